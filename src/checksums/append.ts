import { constants, fsync } from 'node:fs';
import { promisify } from 'node:util';
import { appendWhole } from '../disk/append.ts';
import { byteText } from '../disk/byte-text.ts';
import { WRITTEN_AFTER_MS } from '../disk/directory.ts';
import { diskFailure } from '../disk/failure.ts';
import { flushDirectory } from '../disk/make-directories.ts';
import { closeFile, type OpenPlain, openPlain } from '../disk/plain-file.ts';
import { FilingsError } from '../errors.ts';
import { readSums, SUMS_NAME, type SumsEntry, sumsLine } from './read.ts';

const { O_APPEND, O_CREAT, O_RDONLY, O_RDWR } = constants;
const flushFile = promisify(fsync);
/** What is remembered of directories; those used longest ago go first. */
const MOST_DIRECTORIES = 256;

export interface ChecksumOptions {
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
    directory.listed ??= readNames(path);
    const isListed = (await directory.listed).has(byteText(name));
    if (isListed) directory.unflushed ??= 'others';
    return isListed;
  }

  /** Lists a file that is in place; `sha256` is in lower-case hexadecimal digits. Throws `local_io`: it is not done then. */
  async add(path: string, name: string, sha256: string): Promise<void> {
    const directory = await this.#at(path);
    const entry = { name: byteText(name), sha256 };
    await appendEntry(path, entry);
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

/** Appends a line by one write, behind a line break where the last line is torn. No link is followed. Throws `local_io`. */
export async function appendEntry(directory: string, entry: SumsEntry): Promise<void> {
  await withSums(directory, O_RDWR | O_APPEND | O_CREAT, ({ fd }) =>
    appendWhole(fd, Buffer.from(sumsLine(entry), 'latin1')),
  );
}

/** Flushes a directory's SHA256SUMS and its name; with `now`, one that was written long ago is on disk. Throws `local_io`. */
async function flushSums(directory: string, now: (() => number) | undefined): Promise<void> {
  await withSums(directory, O_RDONLY, async ({ fd, stats }) => {
    if (now && now() - stats.mtimeMs >= WRITTEN_AFTER_MS) return;
    await flushFile(fd);
    await flushDirectory(directory);
  });
}

async function withSums(directory: string, flags: number, work: (file: OpenPlain) => Promise<void>): Promise<void> {
  const path = `${directory}/${SUMS_NAME}`;
  try {
    const file = await openPlain(path, flags);
    if (!file)
      throw new FilingsError('local_io', `${path}: cannot write: not a regular file`, {
        hint: 'move it away',
        stopsRun: true,
      });
    await work(file).finally(() => closeFile(file.fd));
  } catch (error) {
    throw diskFailure(error, path);
  }
}

async function readNames(directory: string): Promise<Set<string>> {
  const names = new Set<string>();
  const path = `${directory}/${SUMS_NAME}`;
  for await (const lines of readSums(path, path)) {
    // A line that no line break ends may be torn: that file is listed once more.
    for (const { entry, ended } of lines) if (entry && ended) names.add(entry.name);
  }
  return names;
}
