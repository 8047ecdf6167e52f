import { basename, dirname } from 'node:path';
import { Directory } from '../disk/directory.ts';
import type { World } from '../world.ts';
import { Leftovers, type PartRun } from './part/leftovers.ts';
import { ownerOf, startsOf } from './part/owner.ts';

/** What the directories of a run need of its world. */
export type ProcessInfo = Pick<World, 'hostname' | 'pid' | 'platform' | 'isRunning' | 'now' | 'random' | 'sleep'>;

/** A directory that is written to, and what earlier runs left in it. */
export interface OpenDirectory {
  readonly directory: Directory;
  readonly leftovers: Leftovers;
}

/** A directory: one that the user named, or one below it. */
export interface Where {
  /** Absolute. Links on the way to it, or in its place, are the user's own. */
  readonly directory: string;
  /** A relative path below it, with slashes; no link on it is followed. Empty: the directory itself. */
  readonly below: string;
  /** Whether what is missing is made. */
  readonly make: boolean;
}

/** So many directories are remembered; one that is forgotten is looked at again. */
const MOST_REMEMBERED = 1024;

/** The directories of a run: each is made and looked at once, and its flushes are shared. */
export class Directories {
  readonly #info: ProcessInfo;
  readonly #run: PartRun;
  readonly #known = new Map<string, OpenDirectory | Promise<OpenDirectory>>();

  constructor(info: ProcessInfo) {
    const { hostname, pid, platform, isRunning, now, random, sleep } = info;
    const self = ownerOf(pid, hostname, platform);
    this.#info = info;
    this.#run = { self, now, random, sleep, startOf: startsOf(platform, isRunning) };
  }

  /** Throws `local_io` when there is none, for this one alone when something else has its name. */
  async at(where: Where): Promise<OpenDirectory> {
    const key = keyOf(where);
    const known = this.#known.get(key);
    if (known) return known;
    const opening = this.#open(where);
    this.#known.set(key, opening);
    const [oldest = ''] = this.#known.keys();
    if (this.#known.size > MOST_REMEMBERED) this.#known.delete(oldest);
    try {
      const opened = await opening;
      if (this.#known.get(key) === opening) this.#known.set(key, opened);
      return opened;
    } catch (error) {
      // The next one may try again.
      this.#known.delete(key);
      throw error;
    }
  }

  /** A directory that was opened before; undefined: it has to be waited for. */
  opened(where: Where): OpenDirectory | undefined {
    const known = this.#known.get(keyOf(where));
    return known instanceof Promise ? undefined : known;
  }

  /** One of them was moved away or removed: they are looked at again. */
  forget(): void {
    this.#known.clear();
  }

  /** Below the one that was named step by step, so that no link is followed. */
  async #open({ directory: path, below, make }: Where): Promise<OpenDirectory> {
    const directory =
      below === '' ? await Directory.open(path, make, this.#info) : await this.#child(path, below, make);
    return { directory, leftovers: new Leftovers(directory, this.#run) };
  }

  async #child(path: string, below: string, make: boolean): Promise<Directory> {
    const above = await this.at({ directory: path, below: folderOf(below), make });
    return above.directory.child(basename(below));
  }
}

/** The folder of a relative path; empty for that of a bare name. */
export function folderOf(path: string): string {
  const folder = dirname(path);
  return folder === '.' ? '' : folder;
}

/** No path has a NUL in it. */
function keyOf({ directory, below }: Where): string {
  return below === '' ? directory : `${directory}\0${below}`;
}
