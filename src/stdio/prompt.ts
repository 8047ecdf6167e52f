import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { childOf } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import { interruptionError, type World } from '../world.ts';
import { write } from './output.ts';

/**
 * Asks for a secret on the terminal without echoing the input. Returns the line without its end. Throws `usage` if
 * nothing is entered, `interrupted` after Ctrl-C, and the interrupt's reason.
 */
export async function askHidden(
  name: string,
  { stdin, stderr, interrupt }: Pick<World, 'stdin' | 'stderr' | 'interrupt'>,
): Promise<string> {
  const { signal, abort, detach } = childOf(interrupt);
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: stdin, output: discard, terminal: true, historySize: 0 });
  // In raw mode Ctrl-C and Ctrl-D arrive as input.
  terminal.on('SIGINT', () => abort(interruptionError('SIGINT')));
  terminal.on('close', () => abort(new FilingsError('usage', 'nothing was entered', { subject: { name } })));
  try {
    signal.throwIfAborted();
    const answer = terminal.question('', { signal });
    // Its error is thrown by the await below.
    answer.catch(() => {});
    // The prompt comes after the echo was switched off, because the input may follow at once.
    await write(stderr, `${name}: `);
    return await answer;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    terminal.close();
    detach();
    stdin.destroy();
    await write(stderr, '\n');
  }
}
