import { LAST_WORDS_MS, within } from '../abort.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { guardStream, write } from '../stdio/output.ts';
import type { World } from '../world.ts';

// What it shows errors with is loaded then: a run that goes well has no use for it.

/** 128 and SIGPIPE. */
const READER_WENT_AWAY = 141;

/** How errors are shown, by the command line as it stands. Never throws. */
export async function presentationAtHand(world: World) {
  const { presentationOf, scanFlags } = await import('./presentation.ts');
  return presentationOf(scanFlags(world.argv), world);
}

/** Tells about an error on stderr, as far as that can be written; gives its exit status. */
export async function reportError(thrown: unknown, world: World): Promise<number> {
  const error = asFilingsError(thrown, world.interrupt);
  // Whoever closes a pipe early has seen enough, and is told nothing.
  if (error.exitStatus === READER_WENT_AWAY) return error.exitStatus;
  guardStream(world.stderr);
  try {
    const text = await rendered(error, world).catch(unloaded);
    const tell = (signal?: AbortSignal) => write(world.stderr, text, signal);
    await (error.isTimeUp ? within(LAST_WORDS_MS, world.sleep, tell) : tell());
  } catch {
    // stderr was the last place to say it.
  }
  return error.exitStatus;
}

/** What tells an error is loaded only then, and may be what can't be. Throws anything else: it may hold a secret. */
function unloaded(failure: unknown): string {
  if (!isTooManyOpen(failure)) throw failure;
  const { message, hint } = tooManyOpen(failure);
  return `filings: ${message}\n  hint: ${hint}\n`;
}

async function rendered(error: FilingsError, world: World): Promise<string> {
  const { renderError, usesColor } = await import('../terminal/messages.ts');
  const { color, ...presentation } = await presentationAtHand(world);
  return renderError(error, {
    ...presentation,
    color: usesColor(color, world.stderr, world.env.TERM),
    secrets: world.secrets,
  });
}

function isTooManyOpen(thrown: unknown): boolean {
  return errnoOf(thrown) === 'EMFILE' || errnoOf(thrown) === 'ENFILE';
}

/** At this moment it can't even read its own code. */
function tooManyOpen(cause: unknown): FilingsError {
  const hint = 'raise the limit (ulimit -n), or lower --jobs';
  return new FilingsError('local_io', 'too many open files: the program could not load all of itself', { hint, cause });
}

function asFilingsError(thrown: unknown, interrupt: AbortSignal): FilingsError {
  if (thrown instanceof FilingsError) return thrown;
  // What an interrupted call throws is not what went wrong.
  if (interrupt.aborted && interrupt.reason instanceof FilingsError) return interrupt.reason;
  if (isTooManyOpen(thrown)) return tooManyOpen(thrown);
  const message = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  return new FilingsError('internal', `a defect in the program: ${message}`, {
    hint: 'please report it; --verbose shows where it happened',
    cause: thrown,
  });
}
