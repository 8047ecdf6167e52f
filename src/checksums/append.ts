import { constants, fsync } from 'node:fs';
import { promisify } from 'node:util';
import { AppendFile } from '../disk/append.ts';
import { closeFile } from '../disk/calls.ts';
import { withDiskFailure } from '../disk/failure.ts';
import { flushDirectory } from '../disk/make-directories.ts';
import { openPlain } from '../disk/plain-file.ts';
import { type ByteText, byteText, readSums, SUMS_NAME, sumsLine } from './read.ts';

const { O_NOFOLLOW, O_RDONLY } = constants;
const flushFile = promisify(fsync);
const MOST_DIRECTORIES = 256;

/** Directories are absolute paths. */
export class ChecksumFiles {
  readonly #isFlushed: boolean;
  /** By directory, as read when first asked for. */
  readonly #listed = new Map<string, Promise<Set<ByteText>>>();
  /** Those of lines that may not be on disk yet, this run's and others'. */
  readonly #unflushed = new Set<string>();
  /** Rejected for good after one failure: the kernel reports it once, so another flush would succeed. */
  #flushing: Promise<void> = Promise.resolve();

  /** `isFlushed`: lines are flushed before a done line, since a filing in a done list is never looked at again. */
  constructor(isFlushed: boolean) {
    this.#isFlushed = isFlushed;
  }

  /** What this run appends counts at once, what others append after it was read does not. Throws `local_io`. */
  async isListed(directory: string, name: string): Promise<boolean> {
    const isListed = (await this.#namesIn(directory)).has(byteText(name));
    if (isListed) this.#note(directory);
    return isListed;
  }

  /** `sha256` is in lower-case hexadecimal digits. Throws `local_io`: the file is not done then. */
  async add(directory: string, name: string, sha256: string): Promise<void> {
    const entry = { name: byteText(name), sha256 };
    // A torn line would become an entry for a name that was cut off.
    const file = await AppendFile.open(`${directory}/${SUMS_NAME}`, { flags: O_NOFOLLOW, tornLine: 'remove' });
    await file.write([Buffer.from(sumsLine(entry), 'latin1')]).finally(() => file.end());
    this.#note(directory);
    (await this.#listed.get(directory))?.add(entry.name);
  }

  /** Waits until the lines of all files that count as listed are on disk. Throws `local_io`, at each later call too. */
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
    if (this.#listed.size >= MOST_DIRECTORIES) this.#listed.delete(oldest);
    const path = `${directory}/${SUMS_NAME}`;
    // A torn last line is no entry, so its file is listed again.
    const names = readSums(path, path).then(({ entries }) => new Set(entries.keys()));
    this.#listed.set(directory, names);
    return names;
  }
}

async function flushSums(directory: string): Promise<void> {
  const path = `${directory}/${SUMS_NAME}`;
  await withDiskFailure(path, async () => {
    const { fd } = await openPlain(path, O_RDONLY | O_NOFOLLOW);
    await flushFile(fd).finally(() => closeFile(fd));
    await flushDirectory(directory);
  });
}
