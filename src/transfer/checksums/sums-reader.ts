import { read } from 'node:fs';
import { promisify } from 'node:util';
import type { ByteText } from '../../disk/byte-text.ts';
import { parseSumsLine, type SumsEntry } from './sums-line.ts';

const readAt = promisify(read);
const READ_BYTES = 1 << 16;
/** The longest line that can be one: hash, and a name of 255 bytes, each escaped. */
const LONGEST_LINE = 1024;

/** An entry, or why a line is none. `open`: the last line, and no line break ends it, so it may be torn. */
export type SumsLineRead =
  | ({ readonly kind: 'entry'; readonly open: boolean } & SumsEntry)
  | { readonly kind: 'garbage'; readonly open: boolean };

/** Takes the bytes of a checksum file as they come, and gives its lines; holds no more than one line. */
export class SumsSplitter {
  #rest = '';
  #overlong = false;

  /** The lines that end in these bytes. */
  take(bytes: ByteText): SumsLineRead[] {
    const pieces = bytes.split('\n');
    const lines: SumsLineRead[] = [];
    for (let index = 0; index < pieces.length - 1; index += 1) {
      const line = this.#rest + pieces[index];
      this.#rest = '';
      if (this.#overlong) lines.push({ kind: 'garbage', open: false });
      else lines.push(...readLine(line.endsWith('\r') ? line.slice(0, -1) : line, false));
      this.#overlong = false;
    }
    this.#keep(pieces.at(-1) ?? '');
    return lines;
  }

  /** What no line break ends. */
  end(): SumsLineRead[] {
    return this.#overlong ? [{ kind: 'garbage', open: true }] : readLine(this.#rest, true);
  }

  #keep(piece: ByteText): void {
    this.#rest += piece;
    if (this.#rest.length <= LONGEST_LINE) return;
    this.#overlong = true;
    this.#rest = '';
  }
}

/** Empty lines come of appends after a torn line, comments of people; neither is a fault. */
function readLine(line: ByteText, open: boolean): SumsLineRead[] {
  if (line === '' || line.startsWith('#')) return [];
  const entry = line.length <= LONGEST_LINE ? parseSumsLine(line) : undefined;
  return [entry ? { kind: 'entry', open, ...entry } : { kind: 'garbage', open }];
}

/** The lines of an open checksum file, some at a time, up to its end or byte `end`. Throws what the file system says. */
export async function* readSums(fd: number, end = Number.POSITIVE_INFINITY): AsyncGenerator<readonly SumsLineRead[]> {
  const splitter = new SumsSplitter();
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  for (let position = 0; position < end; ) {
    const { bytesRead } = await readAt(fd, buffer, 0, Math.min(READ_BYTES, end - position), position);
    if (bytesRead === 0) break;
    position += bytesRead;
    yield splitter.take(buffer.toString('latin1', 0, bytesRead));
  }
  yield splitter.end();
}
