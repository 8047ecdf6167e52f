// Opens each directory that a run writes to once, so that its flushes and its search for parts are shared by all of its
// files. Takes the directory that the user named and a path below it; gives an open `Directory` and the parts that
// other runs left there.
import { lstatSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Directory } from '../disk/directory.ts';
import { errnoOf } from '../errors.ts';
import type { World } from '../world.ts';
import { KeptParts } from './part/kept-parts.ts';
import { Leftovers, type PartRun } from './part/leftovers.ts';
import { identifySelf, type ProcessInfo, startReader, stateOf } from './part/owner.ts';

type RunInfo = ProcessInfo & Pick<World, 'cwd' | 'pid' | 'random' | 'sleep'>;

/** An open directory, and the parts that other runs left in it. */
export interface OpenDirectory {
  readonly directory: Directory;
  readonly leftovers: Leftovers;
}

/** The path of a directory, in two parts with different rules. */
export interface DirectoryLocation {
  /** The absolute path that the user named. Symbolic links in it are followed. */
  readonly directory: string;
  /**
   * A relative path of safe names below `directory`. No symbolic link in it is followed, and missing directories are
   * created. Undefined: `directory` itself, which must exist, as for the shell's `>`.
   */
  readonly below: string | undefined;
}

/** Bounds the memory of a run with many directories. A directory that was dropped is opened again when it is needed. */
const MAX_CACHED = 1024;

/** The directories of a run. */
export class Directories {
  /** The parts that this run leaves for later runs. */
  readonly keptParts: KeptParts;
  readonly #info: Pick<RunInfo, 'cwd' | 'platform' | 'now' | 'sleep'> & { readonly isReadOnly: boolean };
  readonly #run: PartRun;
  /** True if the directory that the user named is missing in a dry run, which creates none. */
  #isRootMissing = false;
  /** The key of the directory that a dry run found missing last. Most files are in the directory of the one before. */
  #lastMissing: string | undefined;
  readonly #cache = new Map<string, OpenDirectory | Promise<OpenDirectory>>();

  /** `isReadOnly` is for a dry run, which flushes nothing. */
  constructor(info: RunInfo, isReadOnly = false) {
    const { cwd, pid, platform, now, random, sleep } = info;
    const self = identifySelf(pid, info);
    this.#info = { cwd, platform, now, sleep, isReadOnly };
    this.keptParts = new KeptParts(sleep);
    const readStart = startReader(info);
    const keptParts = this.keptParts;
    this.#run = { self, now, random, sleep, keptParts, stateOf: (owner) => stateOf(owner, self, readStart) };
  }

  /**
   * Opens a directory, and creates it if its location allows that. Throws `local_io` if it cannot be opened; the error
   * ends this file alone if something else has the directory's name.
   */
  async open(location: DirectoryLocation): Promise<OpenDirectory> {
    const key = keyOf(location);
    const cached = this.#cache.get(key);
    if (cached) return cached;
    const opening = this.#open(location);
    this.#cache.set(key, opening);
    const [oldest = ''] = this.#cache.keys();
    if (this.#cache.size > MAX_CACHED) this.#cache.delete(oldest);
    try {
      const opened = await opening;
      if (this.#cache.get(key) === opening) this.#cache.set(key, opened);
      return opened;
    } catch (error) {
      this.#cache.delete(key);
      throw error;
    }
  }

  /**
   * Opens a directory if it exists, and creates none. Returns undefined if the directory is missing and `open` would
   * create it. Throws as `open` does.
   */
  async find(location: DirectoryLocation): Promise<OpenDirectory | undefined> {
    const { directory, below } = location;
    if (below === undefined || this.#cache.has(keyOf(location))) return this.open(location);
    const parent = below === '.' ? undefined : await this.find({ directory, below: dirname(below) });
    if (parent === undefined && below !== '.') return undefined;
    const checking = parent?.directory.disk.lstat(parent.directory.pathFor(basename(below))) ?? lstat(directory);
    // After any other error than ENOENT, `open` fails too, and its error has the reason.
    const exists = await checking.then(Boolean, (error) => errnoOf(error) !== 'ENOENT');
    if (below === '.') this.#isRootMissing = this.#info.isReadOnly && !exists;
    return exists ? this.open(location) : undefined;
  }

  /**
   * Returns whether a directory is missing. Returns false also if finding out would need a promise: on a network disk,
   * or before `find` opened the directory above.
   */
  isMissing({ directory, below }: DirectoryLocation): boolean {
    if (this.#isRootMissing || below === undefined || below === '.') return this.#isRootMissing;
    const parentLocation = { directory, below: dirname(below) };
    const parent = this.getIfOpen(parentLocation)?.directory;
    if (parent?.disk.isLocal !== true) return this.isMissing(parentLocation);
    const key = keyOf({ directory, below });
    if (key === this.#lastMissing) return true;
    try {
      const isMissing = lstatSync(parent.pathFor(basename(below)), { throwIfNoEntry: false }) === undefined;
      if (isMissing && this.#info.isReadOnly) this.#lastMissing = key;
      return isMissing;
    } catch {
      return false;
    }
  }

  /** Returns undefined if the directory is not open yet. */
  getIfOpen(location: DirectoryLocation): OpenDirectory | undefined {
    const cached = this.#cache.get(keyOf(location));
    return cached instanceof Promise ? undefined : cached;
  }

  /** Makes the next `open` of each directory start from its path, because one of them was moved or removed. */
  clear(): void {
    this.#cache.clear();
  }

  async #open(location: DirectoryLocation): Promise<OpenDirectory> {
    const directory = await this.#openDirectory(location);
    return { directory, leftovers: new Leftovers(directory, this.#run) };
  }

  async #openDirectory({ directory: path, below }: DirectoryLocation): Promise<Directory> {
    if (below === undefined || below === '.') return Directory.open(path, below !== undefined, this.#info);
    const parent = await this.open({ directory: path, below: dirname(below) });
    return parent.directory.openChild(basename(below));
  }
}

/** Joins both paths with a NUL, which no path contains. */
function keyOf({ directory, below = '' }: DirectoryLocation): string {
  return `${directory}\0${below}`;
}
