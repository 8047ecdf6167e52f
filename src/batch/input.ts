import { constants, createReadStream, fstatSync, openSync, type Stats } from 'node:fs';
import { Socket } from 'node:net';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { systemReason } from '../disk/failure.ts';
import { FilingsError } from '../errors.ts';
import type { World } from '../world.ts';

const { O_NOCTTY, O_NONBLOCK, O_RDONLY } = constants;

/** What `--input` names, open. */
export interface Input {
  readonly bytes: AsyncIterable<Uint8Array | string>;
  /** A pipe or a terminal, whose end nobody knows. */
  readonly isStream: boolean;
  /** Reads no more: an idle stdin would keep the program alive. */
  close(): void;
}

/**
 * Opens what `--input` names, to be read as a stream; `-` is stdin, and a person at a terminal is told so. Throws `usage`
 * for what can't be opened.
 */
export function openInput(
  path: string,
  { stdin, cwd }: Pick<World, 'stdin' | 'cwd'>,
  note: (message: string) => void,
): Input {
  if (path === '-' && stdin.isTTY) note('reading accession numbers from stdin; end with Ctrl-D');
  // Opening or reading a FIFO that nobody writes would hold a thread of the pool, which nothing can call back.
  const flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
  const fd = path === '-' ? stdin.fd : within(path, () => openSync(resolve(cwd, path), flags));
  const stats = fd === undefined ? undefined : within(path, () => fstatSync(fd));
  if (stats?.isDirectory()) throw unreadable(path, 'it is a directory');
  const stream = path === '-' || fd === undefined ? stdin : streamOf(fd, stats);
  // Errors reach whoever reads; one that comes before anybody does must not end the program.
  stream.on('error', () => {});
  return { bytes: stream, isStream: stats?.isFile() !== true, close: () => stream.destroy() };
}

function streamOf(fd: number, stats: Stats | undefined): Readable {
  return stats?.isFIFO() ? new Socket({ fd, readable: true, writable: false }) : createReadStream('', { fd });
}

function within<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw unreadable(path, systemReason(cause), cause);
  }
}

function unreadable(path: string, why: string, cause?: unknown): FilingsError {
  return new FilingsError('usage', `--input ${path}: ${why}`, {
    hint: 'name a file with a line for each filing, or - for stdin',
    cause,
  });
}
