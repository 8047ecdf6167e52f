// Asks for a secret on the terminal without showing what is typed. readline does the editing, in raw mode, and what it
// would show is discarded.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { createChildController } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import { interruptionError, type World } from '../world.ts';
import { write } from './output.ts';

/** Throws `usage` after Ctrl-D or at the end of stdin, `interrupted` after Ctrl-C, or `interrupt.reason` on abort. */
export async function askHidden(
  name: string,
  { stdin, stderr, interrupt }: Pick<World, 'stdin' | 'stderr' | 'interrupt'>,
): Promise<string> {
  const { signal, abort, detach } = createChildController(interrupt);
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: stdin, output: discard, terminal: true, historySize: 0 });
  // createInterface has put the terminal into raw mode, which turns off echo. Ctrl-C then causes no SIGINT: readline
  // reads it, and Ctrl-D, as input and emits these events.
  terminal.on('SIGINT', () => abort(interruptionError('SIGINT')));
  terminal.on('close', () => abort(new FilingsError('usage', 'nothing was entered', { subject: { name } })));
  try {
    signal.throwIfAborted();
    const answer = terminal.question('', { signal });
    // `answer` is awaited only after the write below. If it is rejected before that, the process would end because
    // nothing handles the rejection yet. The await still throws the error.
    answer.catch(() => {});
    // Printed only now that echo is off, because the user may type or paste the answer immediately.
    await write(stderr, `${name}: `);
    return await answer;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    // This emits `close`, too. But the result is certain at this point, so the abort has no effect.
    terminal.close();
    detach();
    // An open stdin would keep the program alive.
    stdin.destroy();
    // The terminal has not shown the line break that the user typed.
    await write(stderr, '\n');
  }
}
