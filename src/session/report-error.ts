import { FINAL_OUTPUT_GRACE_MS, within } from '../abort.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import type { Flags } from '../spec/command.ts';
import { guardStream, write } from '../stdio/output.ts';
import type { World } from '../world.ts';

/** 128 and SIGPIPE. */
const READER_WENT_AWAY = 141;

/**
 * Writes to stderr, as far as that is possible. Returns the exit status.
 * @param flags the settings among the options, which say how errors look
 */
export async function reportError(thrown: unknown, flags: Flags, world: World): Promise<number> {
  const error = asFilingsError(thrown, world.interrupt);
  // Whoever closes a pipe early has seen enough, and is told nothing.
  if (error.exitStatus === READER_WENT_AWAY) return error.exitStatus;
  guardStream(world.stderr);
  try {
    // What shows errors is loaded only now, and may be what cannot be.
    const text = await rendered(error, flags, world).catch(() => `filings: ${world.secrets.redact(error.message)}\n`);
    const tell = (signal?: AbortSignal) => write(world.stderr, text, signal);
    await (error.isTimeUp ? within(FINAL_OUTPUT_GRACE_MS, world.sleep, tell) : tell());
  } catch {
    // stderr was the last place to say it.
  }
  return error.exitStatus;
}

async function rendered(error: FilingsError, flags: Flags, world: World): Promise<string> {
  const { renderError, usesColor } = await import('../terminal/messages.ts');
  const { presentationOf } = await import('./presentation.ts');
  const { hintOf } = await import('./hints.ts');
  const presentation = await presentationOf(flags, world);
  const color = usesColor(presentation.color, world.stderr, world.env.TERM);
  return renderError(error, { ...presentation, color, secrets: world.secrets, hintOf });
}

function asFilingsError(thrown: unknown, interrupt: AbortSignal): FilingsError {
  if (thrown instanceof FilingsError) return thrown;
  // What an interrupted call throws is not what went wrong.
  if (interrupt.aborted && interrupt.reason instanceof FilingsError) return interrupt.reason;
  // Then it cannot even read its own code.
  if (['EMFILE', 'ENFILE'].includes(errnoOf(thrown) ?? '')) {
    const why = 'too many open files: raise the limit (ulimit -n), or lower --jobs';
    return new FilingsError('local_io', why, { cause: thrown });
  }
  const message = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  return new FilingsError('internal', `a defect in the program: ${message}`, {
    hint: { advice: 'report-defect' },
    cause: thrown,
  });
}
