// readline does the editing, in raw mode, and what it would show is discarded.
import { createInterface } from 'node:readline/promises';
import { PassThrough } from 'node:stream';
import { createChildController } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import { interruptionError, type World } from '../world.ts';
import { write } from './output.ts';

/** Throws `usage` after Ctrl-D, `interrupted` after Ctrl-C, or `interrupt.reason` on abort. */
export async function askHidden(
  name: string,
  { stdin, stderr, interrupt }: Pick<World, 'stdin' | 'stderr' | 'interrupt'>,
): Promise<string> {
  const { signal, abort, detach } = createChildController(interrupt);
  const discard = new PassThrough().resume();
  const terminal = createInterface({ input: stdin, output: discard, terminal: true, historySize: 0 });
  // In raw mode, Ctrl-C causes no SIGINT: readline reads it, and Ctrl-D, as input and emits these events.
  terminal.on('SIGINT', () => abort(interruptionError('SIGINT')));
  terminal.on('close', () => abort(new FilingsError('usage', 'nothing was entered', { subject: { name } })));
  try {
    signal.throwIfAborted();
    const answer = terminal.question('', { signal });
    // If `answer` is rejected during the write below, nothing would handle that, which would end the process.
    answer.catch(() => {});
    // Only now is echo off, and the user may type or paste the answer immediately.
    await write(stderr, `${name}: `);
    return await answer;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    // This emits `close`, too, but the result is certain at this point.
    terminal.close();
    detach();
    stdin.destroy();
    // The terminal has not shown the line break that the user typed.
    await write(stderr, '\n');
  }
}
