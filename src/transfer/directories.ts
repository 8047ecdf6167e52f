import { basename, dirname } from 'node:path';
import { Directory } from '../disk/directory.ts';
import type { World } from '../world.ts';
import { Leftovers, type PartRun } from './part/leftovers.ts';
import { ownerOf, processesOf } from './part/owner.ts';

/** What the directories of a run need of its world. */
export type ProcessInfo = Pick<
  World,
  'hostname' | 'pid' | 'platform' | 'uid' | 'isRunning' | 'now' | 'monotonic' | 'random' | 'sleep'
>;

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
/** After so long signals, timers and sockets have their turn: on a local disk calls are made at once. Milliseconds. */
const LONGEST_TURN_MS = 10;

interface Known {
  readonly opening: Promise<OpenDirectory>;
  opened?: OpenDirectory;
}

/** The directories of a run: each is made and looked at once, and its flushes are shared. */
export class Directories {
  readonly #info: ProcessInfo;
  readonly #run: PartRun;
  readonly #directories = new Map<string, Known>();
  #turnedAt: number;

  constructor(info: ProcessInfo) {
    const { hostname, pid, platform, uid, isRunning, now, random, sleep, monotonic } = info;
    this.#info = info;
    const self = ownerOf(pid, hostname, platform);
    this.#run = { self, uid, now, random, sleep, processAt: processesOf(platform, isRunning) };
    this.#turnedAt = monotonic();
  }

  /** Throws `local_io` when there is none, for this one alone when something else has its name. */
  async at(where: Where): Promise<OpenDirectory> {
    await this.#turn();
    return this.#openAt(where);
  }

  /** A directory that was opened before; undefined: it has to be waited for. */
  opened(where: Where): OpenDirectory | undefined {
    return this.#directories.get(keyOf(where))?.opened;
  }

  /** One of them was moved away or removed: they are looked at again. */
  forget(): void {
    this.#directories.clear();
  }

  #openAt(where: Where): Promise<OpenDirectory> {
    const key = keyOf(where);
    const known = this.#directories.get(key);
    if (known) return known.opening;
    const added: Known = { opening: this.#open(where) };
    this.#directories.set(key, added);
    added.opening.then(
      (directory) => {
        added.opened = directory;
      },
      // The next one may try again.
      () => this.#directories.get(key) === added && this.#directories.delete(key),
    );
    const [oldest = ''] = this.#directories.keys();
    if (this.#directories.size > MOST_REMEMBERED) this.#directories.delete(oldest);
    return added.opening;
  }

  async #open({ directory: path, below, make }: Where): Promise<OpenDirectory> {
    const directory = await (below === ''
      ? Directory.open(path, make, this.#info)
      : this.#openBelow(path, below, make));
    return { directory, leftovers: new Leftovers(directory, this.#run) };
  }

  /** Step by step, so that no link is followed. */
  async #openBelow(path: string, below: string, make: boolean): Promise<Directory> {
    const parent = dirname(below);
    const above = await this.#openAt({ directory: path, below: parent === '.' ? '' : parent, make });
    return above.directory.child(basename(below), make);
  }

  async #turn(): Promise<void> {
    if (this.#info.monotonic() - this.#turnedAt < LONGEST_TURN_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#turnedAt = this.#info.monotonic();
  }
}

/** No path has a NUL in it. */
function keyOf({ directory, below }: Where): string {
  return below === '' ? directory : `${directory}\0${below}`;
}
