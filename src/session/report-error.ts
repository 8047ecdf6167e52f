// Reports the error that ends a run. Takes anything that was thrown, writes it to stderr, and gives the exit status.
import { FINAL_OUTPUT_GRACE_MS, within } from '../abort.ts';
import { errnoOf, FilingsError, messageOf } from '../errors.ts';
import { markForeign } from '../secrets.ts';
import type { Flags } from '../spec/command.ts';
import { guardStream, write } from '../stdio/output.ts';
import type { World } from '../world.ts';

/** 128 plus the number of SIGPIPE. */
const BROKEN_PIPE_STATUS = 141;

/**
 * Returns the exit status after writing the error to stderr. A failure to write is ignored. Never throws.
 * @param flags the settings of the command line, which decide how errors look
 */
export async function reportError(thrown: unknown, flags: Flags, world: World): Promise<number> {
  const error = asFilingsError(thrown, world.interrupt);
  // A reader that closes the pipe early expects no message.
  if (error.exitStatus === BROKEN_PIPE_STATUS) return error.exitStatus;
  guardStream(world.stderr);
  try {
    // The modules that render errors are loaded only now. If loading fails, the message is printed without them.
    const text = await render(error, flags, world).catch(
      () => `filings: ${world.secrets.redactForeign(messageOf(error))}\n`,
    );
    const print = (signal?: AbortSignal) => write(world.stderr, text, signal);
    await (error.isTimeUp ? within(FINAL_OUTPUT_GRACE_MS, world.sleep, print) : print());
  } catch {
    // There is no other stream to report a failure of stderr.
  }
  return error.exitStatus;
}

async function render(error: FilingsError, flags: Flags, world: World): Promise<string> {
  const { renderError, usesColor } = await import('../terminal/messages.ts');
  const { readPresentation } = await import('./presentation.ts');
  const presentation = await readPresentation(flags, world);
  const color = usesColor(presentation.color, world.stderr, world.env.TERM);
  return renderError(error, { ...presentation, color, secrets: world.secrets });
}

function asFilingsError(thrown: unknown, interrupt: AbortSignal): FilingsError {
  if (thrown instanceof FilingsError) return thrown;
  // An interrupted call throws an error of its own. The interruption is the cause.
  if (interrupt.aborted && interrupt.reason instanceof FilingsError) return interrupt.reason;
  // Without a free descriptor, not even the program's own modules can be loaded.
  if (['EMFILE', 'ENFILE'].includes(errnoOf(thrown) ?? '')) {
    const reason = 'too many open files: raise the limit (ulimit -n), or lower --jobs';
    return new FilingsError('local_io', reason, { cause: thrown });
  }
  const message = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  return new FilingsError('internal', `a defect in the program: ${markForeign(message)}`, {
    hint: 'please report it; --verbose shows where it happened',
    cause: thrown,
  });
}
