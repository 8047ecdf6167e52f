// Turns anything that was thrown into a message on stderr and an exit status.
import { FINAL_OUTPUT_GRACE_MS, withTimeLimit } from '../abort.ts';
import { defectError, errnoOf, FilingsError, messageOf } from '../errors.ts';
import type { Flags } from '../spec/command.ts';
import { isClosedPipe, write } from '../stdio/output.ts';
import type { World } from '../world.ts';

/** Never throws. `flags` decide how the error is shown. */
export async function reportError(thrown: unknown, flags: Flags, world: World): Promise<number> {
  const error = asFilingsError(thrown, world.interrupt);
  // A C program that SIGPIPE ends prints nothing either.
  if (isClosedPipe(error)) return error.exitStatus;
  try {
    // `render` imports modules, which may fail, for example because no file descriptor is free.
    const text = await render(error, flags, world).catch(
      () => `filings: ${world.secrets.redactMarked(messageOf(error))}\n`,
    );
    const print = (timeLimit?: AbortSignal) => write(world.stderr, text, timeLimit);
    // After SIGINT or the deadline, a reader of stderr that has stopped reading must not keep the program alive.
    await (error.isInterruption ? withTimeLimit(FINAL_OUTPUT_GRACE_MS, world.sleep, print) : print());
  } catch {
    // The exit status is all that is left to report.
  }
  return error.exitStatus;
}

async function render(error: FilingsError, flags: Flags, world: World): Promise<string> {
  const { renderError } = await import('../terminal/messages.ts');
  const { readPresentation, addFlagsToHint } = await import('./presentation.ts');
  const presentation = await readPresentation(flags, world);
  return renderError(addFlagsToHint(error, flags, presentation.profile), presentation, world);
}

function asFilingsError(thrown: unknown, interrupt: AbortSignal): FilingsError {
  if (thrown instanceof FilingsError) return thrown;
  // An AbortError of Node. It never stands for the deadline here, because `withinDeadline` has replaced that.
  if (interrupt.aborted && interrupt.reason instanceof FilingsError) return interrupt.reason;
  // Without a free file descriptor, even the import of a module fails.
  if (['EMFILE', 'ENFILE'].includes(errnoOf(thrown) ?? '')) {
    const reason = 'too many open files: raise the limit (ulimit -n), or lower --jobs';
    return new FilingsError('local_io', reason, { cause: thrown });
  }
  return defectError(thrown);
}
