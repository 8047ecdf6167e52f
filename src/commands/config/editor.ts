import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { ReadStream } from 'node:tty';
import { onAbort } from '../../abort.ts';
import { FilingsError } from '../../errors.ts';
import { write } from '../../stdio/output.ts';
import type { World } from '../../world.ts';

const NO_SUCH_PROGRAM = 127;

/**
 * Lets a person change a file: with `VISUAL`, else `EDITOR`, else vi, each of which may have arguments.
 * @throws FilingsError `config` when that could not be run or did not end well; the signal's reason
 */
export async function editFile(path: string, { env, cwd, interrupt }: World): Promise<void> {
  const editor = env.VISUAL || env.EDITOR || 'vi';
  // As git does it: a shell splits what stands in the variable.
  const child = spawn('/bin/sh', ['-c', `${editor} "$@"`, editor, path], { stdio: 'inherit', env: { ...env }, cwd });
  const forget = onAbort(interrupt, () => child.kill());
  const ended = await new Promise<string | undefined>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('exit', (code, signal) => resolve(code === 0 ? undefined : endOf(code, signal)));
  });
  forget();
  interrupt.throwIfAborted();
  if (ended === undefined) return;
  throw new FilingsError('config', `the editor ${editor}: ${ended}: nothing is changed`, {
    hint: 'VISUAL or EDITOR names the editor',
  });
}

function endOf(code: number | null, signal: string | null): string {
  if (code === NO_SUCH_PROGRAM) return 'no such program';
  return code === null ? `it was ended by ${signal}` : `it ended with ${code}`;
}

/**
 * Asks on the terminal whether to edit again. By a stream of its own: what stdin has read already would be missing
 * to the editor, which reads there, too. Throws the signal's reason.
 */
export async function askAgain({ stderr, interrupt }: World): Promise<boolean> {
  const terminal = new ReadStream(openSync('/dev/tty', 'r'));
  const lines = createInterface({ input: terminal });
  try {
    for (;;) {
      await write(stderr, 'e: edit again, x: give up, nothing is changed: ', interrupt);
      const answer = await lines.question('', { signal: interrupt });
      if (/^e/i.test(answer.trim())) return true;
      if (/^[xq]/i.test(answer.trim())) return false;
    }
  } finally {
    lines.close();
    terminal.destroy();
  }
}
