import { closeSync, constants, createReadStream, fstatSync, openSync, type Stats } from 'node:fs';
import { Socket } from 'node:net';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { errnoOf, FilingsError } from '../errors.ts';
import type { World } from '../world.ts';

const { O_NOCTTY, O_NONBLOCK, O_RDONLY } = constants;

/** What `--input` names, open. */
export interface Input {
  readonly bytes: AsyncIterable<Uint8Array | string>;
  /** Of all of it, in bytes; undefined for what has no size of its own: a pipe, a terminal. */
  readonly size: number | undefined;
  /** Reads no more: an idle stdin would keep the program alive. */
  close(): void;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EACCES: 'no permission to read it',
  EISDIR: 'it is a directory',
};

/**
 * Opens what `--input` names, to be read as a stream; `-` is stdin, and a person at a terminal is told so. Throws `usage`
 * for what can't be opened.
 */
export function openInput(
  path: string,
  { stdin, cwd }: Pick<World, 'stdin' | 'cwd'>,
  note: (message: string) => void,
): Input {
  const { stream, size } = path === '-' ? standardInput(stdin) : fileStream(resolve(cwd, path), path);
  if (path === '-' && stdin.isTTY) note('reading accession numbers from stdin; end with Ctrl-D');
  // Errors reach whoever reads; one that comes before anybody does must not end the program.
  stream.on('error', () => {});
  return { bytes: stream, size, close: () => stream.destroy() };
}

interface Opened {
  readonly stream: Readable;
  readonly size: number | undefined;
}

function standardInput(stdin: World['stdin']): Opened {
  const stats = stdin.fd === undefined ? undefined : fstatSync(stdin.fd);
  if (stats?.isDirectory()) throw unreadable('-', 'EISDIR');
  return { stream: stdin, size: stats && sizeOf(stats) };
}

function fileStream(absolute: string, shown: string): Opened {
  try {
    // Opening or reading a FIFO that nobody writes would hold a thread of the pool, which nothing can call back.
    const fd = openSync(absolute, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    const stats = fstatSync(fd);
    if (stats.isFIFO()) return { stream: new Socket({ fd, readable: true, writable: false }), size: undefined };
    if (!stats.isDirectory()) return { stream: createReadStream('', { fd }), size: sizeOf(stats) };
    closeSync(fd);
  } catch (cause) {
    throw unreadable(shown, errnoOf(cause) ?? 'unknown error', cause);
  }
  throw unreadable(shown, 'EISDIR');
}

/** Files of /proc and the like say that they are empty, and are not. */
function sizeOf(stats: Stats): number | undefined {
  return stats.isFile() && stats.size > 0 ? stats.size : undefined;
}

function unreadable(path: string, errno: string, cause?: unknown): FilingsError {
  return new FilingsError('usage', `--input ${path}: ${REASONS[errno] ?? errno}`, {
    hint: 'name a file with a line for each filing, or - for stdin',
    cause,
  });
}
