import { basename, dirname } from 'node:path';
import type { Sleep } from '../abort.ts';
import { Directory } from '../disk/directory.ts';
import { Leftovers, type PartRun } from './part/leftovers.ts';
import { ownerOf, processesOf } from './part/owner.ts';

/** What the places need to know of the process. */
export interface Tenant {
  readonly hostname: string;
  readonly pid: number;
  readonly platform: string;
  readonly uid: number | undefined;
  /** Whether there is a process of that number; true when that can't be told. */
  readonly isRunning: (pid: number) => boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds of a clock that never steps. */
  readonly monotonic: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly sleep: Sleep;
}

/** A directory that is written to, and what earlier runs left in it. */
export interface Place {
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
  readonly place: Promise<Place>;
  opened?: Place;
}

/** The directories of a run: each is made and looked at once, and its flushes are shared. */
export class Places {
  readonly #tenant: Tenant;
  readonly #run: PartRun;
  readonly #places = new Map<string, Known>();
  #turnedAt: number;

  constructor(tenant: Tenant) {
    const { hostname, pid, platform, uid, isRunning, now, random, sleep, monotonic } = tenant;
    this.#tenant = tenant;
    const self = ownerOf(pid, hostname, platform);
    this.#run = { self, uid, now, random, sleep, processAt: processesOf(platform, isRunning) };
    this.#turnedAt = monotonic();
  }

  /** Throws `local_io` when there is none, for this one alone when something else has its name. */
  async at(where: Where): Promise<Place> {
    await this.#turn();
    return this.#placeAt(where);
  }

  /** A directory that was opened before; undefined: it has to be waited for. */
  opened(where: Where): Place | undefined {
    return this.#places.get(keyOf(where))?.opened;
  }

  /** One of them was moved away or removed: they are looked at again. */
  forget(): void {
    this.#places.clear();
  }

  #placeAt(where: Where): Promise<Place> {
    const key = keyOf(where);
    const known = this.#places.get(key);
    if (known) return known.place;
    const added: Known = { place: this.#open(where) };
    this.#places.set(key, added);
    added.place.then(
      (place) => {
        added.opened = place;
      },
      // The next one may try again.
      () => this.#places.get(key) === added && this.#places.delete(key),
    );
    const [oldest = ''] = this.#places.keys();
    if (this.#places.size > MOST_REMEMBERED) this.#places.delete(oldest);
    return added.place;
  }

  async #open({ directory: path, below, make }: Where): Promise<Place> {
    const directory = await (below === ''
      ? Directory.open(path, make, this.#tenant)
      : this.#openBelow(path, below, make));
    return { directory, leftovers: new Leftovers(directory, this.#run) };
  }

  /** Step by step, so that no link is followed. */
  async #openBelow(path: string, below: string, make: boolean): Promise<Directory> {
    const parent = dirname(below);
    const above = await this.#placeAt({ directory: path, below: parent === '.' ? '' : parent, make });
    return above.directory.child(basename(below), make);
  }

  async #turn(): Promise<void> {
    if (this.#tenant.monotonic() - this.#turnedAt < LONGEST_TURN_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#turnedAt = this.#tenant.monotonic();
  }
}

/** No path has a NUL in it. */
function keyOf({ directory, below }: Where): string {
  return below === '' ? directory : `${directory}\0${below}`;
}
