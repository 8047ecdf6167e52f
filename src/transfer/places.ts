import { basename, dirname } from 'node:path';
import type { Sleep } from '../abort.ts';
import { Directory } from '../disk/directory.ts';
import { Leftovers, type PartRun } from './part/leftovers.ts';
import { ownerOf, processAt } from './part/owner.ts';

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

/** The directories of a run: each is made and looked at once, and its flushes are shared. */
export class Places {
  readonly #tenant: Tenant;
  readonly #run: PartRun;
  /** The one that was asked for last at the end. */
  readonly #places = new Map<string, Promise<Place>>();
  readonly #opened = new Map<string, Place>();
  #turnedAt: number;

  constructor(tenant: Tenant) {
    const { hostname, pid, platform, uid, isRunning, now, random, sleep, monotonic } = tenant;
    this.#tenant = tenant;
    const self = ownerOf(pid, hostname, platform);
    this.#run = { self, uid, now, random, sleep, processAt: (other) => processAt(other, platform, isRunning) };
    this.#turnedAt = monotonic();
  }

  /** Throws `local_io` when there is none, for this one alone when something else has its name. */
  async at(where: Where): Promise<Place> {
    await this.#turn();
    return this.#placeAt(where);
  }

  /** A directory that was opened before; undefined: it has to be waited for. */
  opened(where: Where): Place | undefined {
    return this.#opened.get(keyOf(where));
  }

  /** One of them was moved away or removed: they are looked at again. */
  forget(): void {
    this.#places.clear();
    this.#opened.clear();
  }

  #placeAt(where: Where): Promise<Place> {
    const key = keyOf(where);
    const known = this.#places.get(key);
    this.#places.delete(key);
    const place = known ?? this.#open(where);
    this.#places.set(key, place);
    if (known) return place;
    // The next one may try again.
    place.then(
      (opened) => this.#places.get(key) === place && this.#opened.set(key, opened),
      () => this.#places.get(key) === place && this.#places.delete(key),
    );
    const [oldest] = this.#places.keys();
    if (this.#places.size > MOST_REMEMBERED && oldest !== undefined) {
      this.#places.delete(oldest);
      this.#opened.delete(oldest);
    }
    return place;
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
