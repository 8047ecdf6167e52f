import { lstatSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Directory } from '../disk/directory.ts';
import { errnoOf } from '../errors.ts';
import type { World } from '../world.ts';
import { KeptParts } from './part/kept-parts.ts';
import { Leftovers, type PartRun } from './part/leftovers.ts';
import { ownerOf, type ProcessInfo, startsOf, stateOf } from './part/owner.ts';

type RunInfo = ProcessInfo & Pick<World, 'cwd' | 'pid' | 'random' | 'sleep'>;

export interface OpenDirectory {
  readonly directory: Directory;
  readonly leftovers: Leftovers;
}

export interface Where {
  /** Absolute. Links on the way to it, or in its place, are the user's own. */
  readonly directory: string;
  /**
   * A relative path, each segment a safe name; no link on it is followed, and what is missing is made. Undefined: the
   * directory itself, whose absence is an error, as for the shell's `>`.
   */
  readonly below: string | undefined;
}

/** A forgotten directory is looked at again. */
const MAX_REMEMBERED = 1024;

/** The directories of a run: each is made and looked at once, and its flushes are shared. */
export class Directories {
  /** The parts that this run leaves for later runs. */
  readonly kept: KeptParts;
  readonly #info: Pick<RunInfo, 'cwd' | 'platform' | 'now' | 'sleep'> & { readonly isReadOnly: boolean };
  readonly #run: PartRun;
  /** The directory that the user named is missing, and this run makes nothing. */
  #isNamedMissing = false;
  readonly #known = new Map<string, OpenDirectory | Promise<OpenDirectory>>();

  /** `isReadOnly`: nothing is flushed. */
  constructor(info: RunInfo, isReadOnly = false) {
    const { cwd, pid, platform, now, random, sleep } = info;
    const self = ownerOf(pid, info);
    this.#info = { cwd, platform, now, sleep, isReadOnly };
    this.kept = new KeptParts(sleep);
    const startOf = startsOf(info);
    this.#run = { self, now, random, sleep, kept: this.kept, stateOf: (owner) => stateOf(owner, self, startOf) };
  }

  /** Throws `local_io` when there is none, for this one alone when something else has its name. */
  async at(where: Where): Promise<OpenDirectory> {
    const key = keyOf(where);
    const known = this.#known.get(key);
    if (known) return known;
    const opening = this.#open(where);
    this.#known.set(key, opening);
    const [oldest = ''] = this.#known.keys();
    if (this.#known.size > MAX_REMEMBERED) this.#known.delete(oldest);
    try {
      const opened = await opening;
      if (this.#known.get(key) === opening) this.#known.set(key, opened);
      return opened;
    } catch (error) {
      this.#known.delete(key);
      throw error;
    }
  }

  /** As `at`, but makes nothing: returns undefined if the directory is missing and `at` would make it. */
  async find(where: Where): Promise<OpenDirectory | undefined> {
    const { directory, below } = where;
    if (below === undefined || this.#known.has(keyOf(where))) return this.at(where);
    const above = below === '.' ? undefined : await this.find({ directory, below: dirname(below) });
    if (above === undefined && below !== '.') return undefined;
    const looking = above?.directory.disk.lstat(above.directory.entry(basename(below))) ?? lstat(directory);
    // Any other error is thrown by `at`, with its reason.
    const isThere = await looking.then(Boolean, (error) => errnoOf(error) !== 'ENOENT');
    if (below === '.') this.#isNamedMissing = this.#info.isReadOnly && !isThere;
    return isThere ? this.at(where) : undefined;
  }

  /** Whether a directory is missing; false also if that takes a promise: on a network disk, or before `find`. */
  isMissing({ directory, below }: Where): boolean {
    if (this.#isNamedMissing || below === undefined || below === '.') return this.#isNamedMissing;
    const parent = { directory, below: dirname(below) };
    const above = this.opened(parent)?.directory;
    if (above?.disk.isLocal !== true) return this.isMissing(parent);
    try {
      return lstatSync(above.entry(basename(below)), { throwIfNoEntry: false }) === undefined;
    } catch {
      return false;
    }
  }

  /** Returns undefined if the directory is not open yet. */
  opened(where: Where): OpenDirectory | undefined {
    const known = this.#known.get(keyOf(where));
    return known instanceof Promise ? undefined : known;
  }

  /** One of them was moved away or removed. */
  forget(): void {
    this.#known.clear();
  }

  async #open(where: Where): Promise<OpenDirectory> {
    const directory = await this.#directory(where);
    return { directory, leftovers: new Leftovers(directory, this.#run) };
  }

  /** No link below the named one is followed. */
  async #directory({ directory: path, below }: Where): Promise<Directory> {
    if (below === undefined || below === '.') return Directory.open(path, below !== undefined, this.#info);
    const above = await this.at({ directory: path, below: dirname(below) });
    return above.directory.child(basename(below));
  }
}

/** No path has a NUL in it. */
function keyOf({ directory, below = '' }: Where): string {
  return `${directory}\0${below}`;
}
