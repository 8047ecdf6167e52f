import { basename, dirname } from 'node:path';
import { Waiting } from '../disk/calls/disk.ts';
import { Directory } from '../disk/directory/directory.ts';
import { Pool } from '../disk/directory/pool.ts';
import { Heartbeat } from '../disk/owner/heartbeat.ts';
import { HEARTBEAT_MS, type Owner } from '../disk/owner/owner.ts';
import { ownerOf, processAt } from '../disk/owner/processes.ts';
import { type ThreadCode, threadCode } from '../own-files.ts';
import { Leftovers } from './sinks/part/leftovers.ts';

/** What the places need to know of the process. */
export interface Tenant {
  readonly hostname: string;
  readonly pid: number;
  readonly platform: string;
  readonly uid: number | undefined;
  readonly root: string;
  /** Whether there is a process of that number; true when that can't be told. */
  readonly isRunning: (pid: number) => boolean;
  /** Of the machine. Seconds. */
  readonly uptime: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds of a clock that never steps. */
  readonly monotonic: () => number;
  /** How often open parts are touched, if not every minute. Milliseconds. */
  readonly heartbeatMs?: number;
}

/** A directory that is written to, and what earlier runs left in it. */
export interface Place {
  readonly directory: Directory;
  readonly leftovers: Leftovers;
  readonly heartbeat: Heartbeat;
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

/** So many directories are open at once, beside those that more files are being fetched into. */
const MOST_OPEN = 256;

/** The directories of a run, each held open while a file of it is under way, and for as long as there is room. */
export class Places {
  readonly owner: Owner;
  readonly #tenant: Tenant;
  readonly #open = new Pool<Place>(MOST_OPEN, shut);
  readonly #waiting: Waiting;
  #serial = 0;
  #hashWorker: ThreadCode | undefined;

  constructor(tenant: Tenant) {
    this.#tenant = tenant;
    this.#waiting = new Waiting(tenant.monotonic);
    this.owner = ownerOf(tenant.pid, tenant.hostname, tenant.platform);
  }

  /**
   * Works in a directory that is held open meanwhile. Throws `local_io` when there is none, for this one alone
   * when something else has its name; and what the work throws.
   */
  async use<T>(where: Where, work: (place: Place) => Promise<T>): Promise<T> {
    const place = await this.#acquire(where);
    try {
      return await work(place);
    } finally {
      this.#open.release(keyOf(where));
    }
  }

  /** The directory at a path, open until `close`; `make` makes it if missing. Throws `local_io`. */
  at(path: string, make: boolean): Promise<Place> {
    return this.#acquire({ directory: path, below: '', make });
  }

  /** The user whose files are our own. */
  get uid(): number | undefined {
    return this.#tenant.uid;
  }

  /** The thread that hashes files beside the main one. */
  get hashWorker(): ThreadCode {
    this.#hashWorker ??= threadCode('hash-worker', this.#tenant.root);
    return this.#hashWorker;
  }

  /** Tells the parts of this process apart. */
  nextSerial(): string {
    this.#serial += 1;
    return this.#serial.toString(36);
  }

  close(): Promise<void> {
    return this.#open.close();
  }

  #acquire(where: Where): Promise<Place> {
    return this.#open.acquire(keyOf(where), async () => {
      const { directory, below, make } = where;
      const { now, platform } = this.#tenant;
      const surroundings = { now, platform, waiting: this.#waiting };
      return this.#placeIn(
        await (below === '' ? Directory.open(directory, make, surroundings) : this.#openBelow(where)),
      );
    });
  }

  /** Step by step, so that no link is followed. */
  async #openBelow(where: Where): Promise<Directory> {
    const above = { ...where, below: parentOf(where.below) };
    const { directory } = await this.#acquire(above);
    // The one that the user named stays open: opened again, it might be another.
    const release = () => above.below !== '' && this.#open.release(keyOf(above));
    try {
      const child = await directory.child(basename(where.below), where.make);
      void child.settled().then(release);
      return child;
    } catch (error) {
      release();
      throw error;
    }
  }

  #placeIn(directory: Directory): Place {
    const { platform, uid, isRunning, uptime, heartbeatMs } = this.#tenant;
    const leftovers = new Leftovers(directory, {
      self: this.owner,
      uid,
      processAt: (pid) => processAt(pid, platform, isRunning),
      uptimeMs: () => uptime() * 1000,
      nextSerial: () => this.nextSerial(),
    });
    return { directory, leftovers, heartbeat: new Heartbeat(directory, heartbeatMs ?? HEARTBEAT_MS) };
  }
}

/** What a heartbeat has made to tell the time can be removed while the directory is open. */
async function shut({ directory, heartbeat }: Place): Promise<void> {
  await heartbeat.rest();
  await directory.close();
}

/** No path has a NUL in it. */
function keyOf({ directory, below }: Where): string {
  return below === '' ? directory : `${directory}\0${below}`;
}

function parentOf(below: string): string {
  const parent = dirname(below);
  return parent === '.' ? '' : parent;
}
