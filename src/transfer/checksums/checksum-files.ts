import { type ChecksumKeeper, DirectorySums, type SumsDirectory } from './directory-sums.ts';

/** What is remembered of directories; those used longest ago go first. */
const MOST_DIRECTORIES = 256;
const MOST_BYTES = 16 << 20;

/**
 * The checksum files of a run (`download --checksums`): what they list, and a line for each file that is in place. Memory
 * does not grow with the number of directories, and by 16 to 54 bytes a file listed in the one directory at hand.
 */
export class ChecksumFiles {
  readonly #keeper: ChecksumKeeper;
  /** By path, the one that was used last at the end. */
  readonly #directories = new Map<string, DirectorySums>();

  constructor(keeper: ChecksumKeeper) {
    this.#keeper = keeper;
  }

  /**
   * Whether a file is listed in its directory's SHA256SUMS, or in this shard's own. The first question about a directory
   * reads them; what this run appends counts at once, what others append meanwhile does not. Throws `local_io`.
   */
  isListed(directory: SumsDirectory, name: string): Promise<boolean> {
    return this.#at(directory).isListed(directory, name);
  }

  /** Lists a file that is in place; `sha256` is in lower-case hexadecimal digits. Throws `local_io`: it is not done then. */
  add(directory: SumsDirectory, name: string, sha256: string): Promise<void> {
    return this.#at(directory).add(directory, name, sha256);
  }

  /**
   * Flushes a directory's checksum files: where this run has appended (`ours`), or somebody a short while ago. False: there
   * was nothing to flush. Their names are the directory's to flush. Throws `local_io`.
   */
  flush(directory: SumsDirectory, ours: boolean): Promise<boolean> {
    return this.#at(directory).flush(directory, ours);
  }

  #at({ path }: SumsDirectory): DirectorySums {
    const known = this.#directories.get(path);
    this.#directories.delete(path);
    if (known === undefined) this.#makeRoom();
    const sums = known ?? new DirectorySums(this.#keeper);
    this.#directories.set(path, sums);
    return sums;
  }

  #makeRoom(): void {
    let bytes = 0;
    for (const sums of this.#directories.values()) bytes += sums.bytes;
    for (const [oldest, sums] of this.#directories) {
      if (this.#directories.size < MOST_DIRECTORIES && bytes <= MOST_BYTES) return;
      this.#directories.delete(oldest);
      bytes -= sums.bytes;
    }
  }
}
