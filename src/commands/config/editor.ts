import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { ReadStream } from 'node:tty';
import { onAbort } from '../../abort.ts';
import { FilingsError } from '../../errors.ts';
import { write } from '../../stdio/output.ts';
import { interruptedBy, type World } from '../../world.ts';

const NO_SUCH_PROGRAM = 127;
/** By SIGINT, as a shell says it. */
const ENDED_BY_CTRL_C = 130;

/**
 * Lets a person change a file: with `VISUAL`, else `EDITOR`, else vi, each of which may have arguments.
 * @throws FilingsError `config` when that could not be run or did not end well; `interrupted` when a Ctrl-C ended it; the signal's reason
 */
export async function editFile(path: string, world: World): Promise<void> {
  const { env, interrupt } = world;
  const editor = env.VISUAL || env.EDITOR || 'vi';
  const end = await endOf(editor, path, world);
  interrupt.throwIfAborted();
  if (end.code === 0) return;
  // One that takes a Ctrl-C for a key goes on with it; one that ends by it was interrupted, and so are we.
  if (end.signal === 'SIGINT' || end.code === ENDED_BY_CTRL_C) throw interruptedBy('SIGINT');
  throw new FilingsError('config', `the editor ${editor}: ${wordsOf(end)}: nothing is changed`, {
    hint: 'VISUAL or EDITOR names the editor',
  });
}

interface End {
  readonly code: number | null;
  readonly signal: string | null;
  /** Why it did not even start. */
  readonly error?: string;
}

function wordsOf({ code, signal, error }: End): string {
  if (error !== undefined) return error;
  if (code === NO_SUCH_PROGRAM) return 'no such program';
  return code === null ? `it was ended by ${signal}` : `it ended with ${code}`;
}

async function endOf(editor: string, path: string, { env, cwd, interrupt, lendTerminal }: World): Promise<End> {
  // As git does it: a shell splits what stands in the variable. A Ctrl-C must not end that shell before the editor.
  const script = `trap : INT; ${editor} "$@"`;
  const child = spawn('/bin/sh', ['-c', script, editor, path], { stdio: 'inherit', env: { ...env }, cwd });
  const forget = onAbort(interrupt, () => child.kill());
  const giveBack = lendTerminal();
  const ended = await new Promise<End>((resolve) => {
    child.on('error', (error) => resolve({ code: null, signal: null, error: error.message }));
    child.on('exit', (code, signal) => resolve({ code, signal }));
  });
  giveBack();
  forget();
  return ended;
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
