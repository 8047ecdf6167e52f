// Reports the error that ends a run: turns anything that was thrown into a message on stderr and an exit status.
import { FINAL_OUTPUT_GRACE_MS, withTimeLimit } from '../abort.ts';
import { errnoOf, FilingsError, messageOf } from '../errors.ts';
import { markForRedaction } from '../secrets.ts';
import type { Flags } from '../spec/command.ts';
import { guardStream, write } from '../stdio/output.ts';
import type { World } from '../world.ts';

/** 128 plus the number of SIGPIPE. `download` ends with it if the reader of its stdout or FIFO closes the pipe. */
const BROKEN_PIPE_STATUS = 141;

/**
 * Writes the error to stderr. Returns the exit status. Never throws.
 * @param flags the options of the command line, some of which decide how the error is shown: `--error-format`,
 * `--color`
 */
export async function reportError(thrown: unknown, flags: Flags, world: World): Promise<number> {
  const error = asFilingsError(thrown, world.interrupt);
  // Prints nothing, just as a C program that SIGPIPE ends prints nothing.
  if (error.exitStatus === BROKEN_PIPE_STATUS) return error.exitStatus;
  // Adds a listener. Without one, an `error` event of stderr would end the program with another status.
  guardStream(world.stderr);
  try {
    // `render` imports modules. If that fails, for example because no file descriptor is free, only the message is
    // printed.
    const text = await render(error, flags, world).catch(
      () => `filings: ${world.secrets.redactMarked(messageOf(error))}\n`,
    );
    const print = (timeLimit?: AbortSignal) => write(world.stderr, text, timeLimit);
    // After SIGINT or the deadline, a reader of stderr that has stopped reading must not keep the program alive.
    await (error.isInterruption ? withTimeLimit(FINAL_OUTPUT_GRACE_MS, world.sleep, print) : print());
  } catch {
    // If stderr cannot be written, the exit status is all that is left to report.
  }
  return error.exitStatus;
}

async function render(error: FilingsError, flags: Flags, world: World): Promise<string> {
  const { renderError, usesColor } = await import('../terminal/messages.ts');
  const { readPresentation, repeatFlags } = await import('./presentation.ts');
  const presentation = await readPresentation(flags, world);
  const color = usesColor(presentation.color, world.stderr, world.env.TERM);
  return renderError(repeatFlags(error, flags), { ...presentation, color, secrets: world.secrets });
}

function asFilingsError(thrown: unknown, interrupt: AbortSignal): FilingsError {
  if (thrown instanceof FilingsError) return thrown;
  // A Node call that is aborted throws an AbortError. Instead of it, report the reason for the abort. Here this is a
  // signal such as SIGINT. It is never the deadline, because `withinDeadline` has already replaced its AbortError.
  if (interrupt.aborted && interrupt.reason instanceof FilingsError) return interrupt.reason;
  // Without a free file descriptor, even the import of a module fails, so this error can be thrown anywhere.
  if (['EMFILE', 'ENFILE'].includes(errnoOf(thrown) ?? '')) {
    const reason = 'too many open files: raise the limit (ulimit -n), or lower --jobs';
    return new FilingsError('local_io', reason, { cause: thrown });
  }
  const message = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  return new FilingsError('internal', `a defect in the program: ${markForRedaction(message)}`, {
    hint: 'please report it; --verbose shows where it happened',
    cause: thrown,
  });
}
