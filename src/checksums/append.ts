import { constants, fsync } from 'node:fs';
import { promisify } from 'node:util';
import { AppendFile } from '../disk/append.ts';
import { closeFile, OPEN_TO_FLUSH } from '../disk/calls.ts';
import { withDiskError } from '../disk/failure.ts';
import { flushDirectory } from '../disk/make-directories.ts';
import { openPlain } from '../disk/plain-file.ts';
import { type ByteText, byteText, readSums, SUMS_NAME, sumsLine } from './read.ts';

// Adds the hashes of downloaded files to the SHA256SUMS of their directories (`--checksums`). Takes a file and its
// hash, appends the line, and tells which files are listed already.

const { O_NOFOLLOW } = constants;
const flushFile = promisify(fsync);
const MAX_DIRECTORIES = 256;

/** Appends to the SHA256SUMS of directories. Directories are absolute paths. */
export class ChecksumFiles {
  readonly #isFlushed: boolean;
  /** The listed names by directory. A directory is read when it is first used. */
  readonly #listed = new Map<string, Promise<Set<ByteText>>>();
  /** Directories with lines that may not be on disk yet, of this run or of others. */
  readonly #unflushed = new Set<string>();
  /** Rejects permanently after one failure. The kernel reports a failure once, so another flush would succeed. */
  #flushing: Promise<void> = Promise.resolve();

  /**
   * `isFlushed` means that lines are flushed before a done line, because a filing in a done list is never checked
   * again.
   */
  constructor(isFlushed: boolean) {
    this.#isFlushed = isFlushed;
  }

  /**
   * Returns whether a file is listed. A line of this run counts at once; a line that another run appends later does
   * not. Throws `local_io`.
   */
  async isListed(directory: string, name: string): Promise<boolean> {
    const isListed = (await this.#namesIn(directory)).has(byteText(name));
    if (isListed) this.#note(directory);
    return isListed;
  }

  /** `sha256` is in lower-case hexadecimal digits. Throws `local_io`: the file is not done then. */
  async add(directory: string, name: string, sha256: string): Promise<void> {
    const entry = { name: byteText(name), sha256 };
    // An entry behind a torn line would make it an entry for a cut name.
    const file = await AppendFile.open(`${directory}/${SUMS_NAME}`, { flags: O_NOFOLLOW, tornLine: 'remove' });
    await file.write([Buffer.from(sumsLine(entry), 'latin1')]).finally(() => file.end());
    this.#note(directory);
    (await this.#listed.get(directory))?.add(entry.name);
  }

  /** Flushes the lines of all files that count as listed. Throws `local_io`, also at each later call. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(async () => {
      const directories = [...this.#unflushed];
      this.#unflushed.clear();
      for (const directory of directories) await flushSums(directory);
    });
    return this.#flushing;
  }

  #note(directory: string): void {
    if (this.#isFlushed) this.#unflushed.add(directory);
  }

  #namesIn(directory: string): Promise<Set<ByteText>> {
    const known = this.#listed.get(directory);
    if (known) return known;
    const [oldest = ''] = this.#listed.keys();
    if (this.#listed.size >= MAX_DIRECTORIES) this.#listed.delete(oldest);
    const path = `${directory}/${SUMS_NAME}`;
    // A torn last line is no entry, so its file is listed again.
    const names = readSums(path, path).then(({ entries }) => new Set(entries.keys()));
    this.#listed.set(directory, names);
    return names;
  }
}

async function flushSums(directory: string): Promise<void> {
  const path = `${directory}/${SUMS_NAME}`;
  await withDiskError(path, async () => {
    const { fd } = await openPlain(path, OPEN_TO_FLUSH | O_NOFOLLOW);
    await flushFile(fd).finally(() => closeFile(fd));
    await flushDirectory(directory);
  });
}
