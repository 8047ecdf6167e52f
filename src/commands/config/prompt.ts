import { write } from '../../stdio/output.ts';
import { type InputStream, interruptedBy, type OutputStream } from '../../world.ts';

/** What keys send while the terminal leaves everything to us. */
const INTERRUPT = '\u0003';
const END = '\u0004';
const ERASE = ['\u007f', '\b'];
const ERASE_ALL = '\u0015';
const ENTER = ['\r', '\n'];

type Terminal = InputStream & { setRawMode?: (on: boolean) => unknown };

/**
 * Asks for one line on the terminal, without showing what is typed.
 * @throws FilingsError `interrupted` by Ctrl-C; the signal's reason
 */
export async function askHidden(
  question: string,
  { stdin, stderr }: { readonly stdin: Terminal; readonly stderr: OutputStream },
  signal: AbortSignal,
): Promise<string> {
  const release = () => {
    if (!stdin.destroyed) stdin.setRawMode?.(false);
    stdin.destroy();
  };
  signal.addEventListener('abort', release, { once: true });
  stdin.setRawMode?.(true);
  try {
    signal.throwIfAborted();
    // Asked when nothing is shown any more: an answer may come at once.
    await write(stderr, question);
    return await readLine(stdin);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', release);
    release();
    await write(stderr, '\n');
  }
}

async function readLine(stdin: Terminal): Promise<string> {
  let line = '';
  stdin.setEncoding('utf8');
  // Not destroyed by the loop's end: the terminal must first be as it was.
  for await (const keys of stdin.iterator({ destroyOnReturn: false }) as AsyncIterable<string>) {
    for (const key of keys) {
      if (ENTER.includes(key) || key === END) return line;
      if (key === INTERRUPT) throw interruptedBy('SIGINT');
      if (key === ERASE_ALL) line = '';
      else if (ERASE.includes(key)) line = [...line].slice(0, -1).join('');
      else line += key;
    }
  }
  return line;
}
