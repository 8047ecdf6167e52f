import { type BigIntStats, close, constants, fstat, fsync } from 'node:fs';
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { byteText } from '../disk/byte-text.ts';
import { WRITTEN_AFTER_MS } from '../disk/directory.ts';
import { diskFailure } from '../disk/failure.ts';
import { flushEntries } from '../disk/make-directories.ts';
import { appendLines } from './append.ts';
import { openSums, readSums, SUMS_NAME, sumsLine } from './read.ts';

const closeFd = promisify(close);
const flushFd = promisify(fsync);
const statFd = promisify(fstat) as (fd: number, options: { bigint: true }) => Promise<BigIntStats>;

/** What is remembered of directories; those used longest ago go first. */
const MOST_DIRECTORIES = 256;

/** Who appends to checksum files. */
export interface ChecksumOptions {
  readonly uid: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Whether lines are flushed: a filing in a done list is never looked at again. */
  readonly flushed: boolean;
}

interface Directory {
  /** The names that its SHA256SUMS lists, read when they are first asked for. */
  listed?: Promise<Set<string>>;
  /** Who may have written lines that are not on disk yet. */
  unflushed?: 'us' | 'others' | undefined;
}

/**
 * The checksum files of a run (`download --checksums`): what they list, and a line for each file that is in place.
 * Directories are absolute paths. Memory does not grow with their number.
 */
export class ChecksumFiles {
  readonly #options: ChecksumOptions;
  /** By path, the one that was used last at the end. */
  readonly #directories = new Map<string, Directory>();
  #flushing: Promise<unknown> = Promise.resolve();
  /** A flush that failed is never tried again: the system tells of what is lost once. */
  #failure: { readonly error: unknown } | undefined;

  constructor(options: ChecksumOptions) {
    this.#options = options;
  }

  /**
   * Whether a file is listed in its directory's SHA256SUMS, which is read once: what this run appends counts at once,
   * what others append meanwhile does not. Throws `local_io`.
   */
  async isListed(path: string, name: string): Promise<boolean> {
    const directory = await this.#at(path);
    directory.listed ??= readNames(sumsAt(path));
    const isListed = (await directory.listed).has(byteText(name));
    if (isListed) directory.unflushed ??= 'others';
    return isListed;
  }

  /** Lists a file that is in place; `sha256` is in lower-case hexadecimal digits. Throws `local_io`: it is not done then. */
  async add(path: string, name: string, sha256: string): Promise<void> {
    const directory = await this.#at(path);
    const file = { path: sumsAt(path), shown: sumsAt(path), uid: this.#options.uid };
    const entry = { name: byteText(name), sha256 };
    await appendLines(file, Buffer.from(sumsLine(entry), 'latin1'));
    directory.unflushed = 'us';
    (await directory.listed)?.add(entry.name);
  }

  /** Resolves when all lines are on disk that say of a file so far that it is listed. Throws `local_io`. */
  flush(): Promise<void> {
    return this.#flush([...this.#directories]);
  }

  async #at(path: string): Promise<Directory> {
    const directory = this.#directories.get(path) ?? {};
    this.#directories.delete(path);
    this.#directories.set(path, directory);
    const [oldest] = this.#directories;
    if (oldest && this.#directories.size > MOST_DIRECTORIES) {
      this.#directories.delete(oldest[0]);
      // It fails none of the files at hand: whoever waits for a flush is told.
      if (this.#options.flushed) await this.#flush([oldest]).catch(() => {});
    }
    return directory;
  }

  /** One after the other: what one has begun with, the next must see at its end. */
  #flush(directories: readonly (readonly [path: string, directory: Directory])[]): Promise<void> {
    const flushing = this.#flushing.then(async () => {
      if (this.#failure) throw this.#failure.error;
      for (const [path, directory] of directories) {
        const { unflushed } = directory;
        // What is appended meanwhile is for the next time.
        directory.unflushed = undefined;
        if (unflushed === undefined) continue;
        await flushSums(path, unflushed === 'us' ? undefined : this.#options.now).catch((error) => {
          this.#failure = { error };
          throw error;
        });
      }
    });
    this.#flushing = flushing.catch(() => {});
    return flushing;
  }
}

/** Flushes a directory's SHA256SUMS and its name; with `now`, one that was written long ago is on disk. Throws `local_io`. */
async function flushSums(path: string, now: (() => number) | undefined): Promise<void> {
  const sums = sumsAt(path);
  const fd = await openSums(sums, sums);
  if (fd === undefined) return;
  try {
    const { mtimeMs } = await statFd(fd, { bigint: true });
    if (now && now() - Number(mtimeMs) >= WRITTEN_AFTER_MS) return;
    await flushFd(fd);
    const directory = await open(path, constants.O_DIRECTORY);
    await flushEntries(directory).finally(() => directory.close());
  } catch (error) {
    throw diskFailure(error, sums);
  } finally {
    await closeFd(fd);
  }
}

async function readNames(sums: string): Promise<Set<string>> {
  const names = new Set<string>();
  for await (const lines of readSums(sums, sums)) {
    // A line that no line break ends may be torn: that file is listed once more.
    for (const { entry, ended } of lines) if (entry && ended) names.add(entry.name);
  }
  return names;
}

function sumsAt(path: string): string {
  return `${path}/${SUMS_NAME}`;
}
