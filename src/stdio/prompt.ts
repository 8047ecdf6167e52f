import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { childOf } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import { interruptionError, type World } from '../world.ts';
import { write } from './output.ts';

/**
 * Asks for a secret on the terminal, which does not show what is typed. Returns the line without its end. Throws `usage`
 * if nothing is entered, `interrupted` after Ctrl-C, the interrupt's reason.
 */
export async function askHidden(
  what: string,
  { stdin, stderr, interrupt }: Pick<World, 'stdin' | 'stderr' | 'interrupt'>,
): Promise<string> {
  const { signal, abort, detach } = childOf(interrupt);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 });
  // The terminal gives Ctrl-C and Ctrl-D to us.
  terminal.on('SIGINT', () => abort(interruptionError('SIGINT')));
  terminal.on('close', () => abort(new FilingsError('usage', 'nothing was entered', { subject: { name: what } })));
  try {
    signal.throwIfAborted();
    const answer = terminal.question('', { signal });
    // Its failure is thrown where it is awaited.
    answer.catch(() => {});
    // Only now does the terminal show nothing any more, and an answer may come at once.
    await write(stderr, `${what}: `);
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
