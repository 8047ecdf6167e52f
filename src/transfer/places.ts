import { join } from 'node:path';
import { Directory } from '../disk/directory.ts';
import { Heartbeat } from '../disk/owner/heartbeat.ts';
import { HEARTBEAT_MS, type Owner } from '../disk/owner/owner.ts';
import { ownerOf, processAt } from '../disk/owner/processes.ts';
import { Leftovers } from './sinks/leftovers.ts';

/** What the places need to know of the process. */
export interface Tenant {
  readonly hostname: string;
  readonly pid: number;
  readonly platform: string;
  readonly uid: number | undefined;
  /** The project's folder. Absolute. */
  readonly root: string;
  /** Whether there is a process of that number; true when that can't be told. */
  readonly isRunning: (pid: number) => boolean;
  /** Of the machine. Seconds. */
  readonly uptime: () => number;
  /** How often open parts are touched, if not every minute. Milliseconds. */
  readonly heartbeatMs?: number;
}

/** A directory that is written to, and what earlier runs left in it. */
export interface Place {
  readonly directory: Directory;
  readonly leftovers: Leftovers;
  readonly heartbeat: Heartbeat;
}

/** The directories of a run, each opened and looked through once. */
export class Places {
  readonly owner: Owner;
  readonly #tenant: Tenant;
  readonly #open = new Map<string, Promise<Place>>();
  #serial = 0;

  constructor(tenant: Tenant) {
    this.#tenant = tenant;
    this.owner = ownerOf(tenant.pid, tenant.hostname, tenant.platform);
  }

  /** The directory at a path; `make` makes it if missing. Throws `local_io`. */
  at(path: string, make: boolean): Promise<Place> {
    let place = this.#open.get(path);
    if (!place) {
      place = this.#find(path, make);
      this.#open.set(path, place);
    }
    return place;
  }

  /** The user whose files are our own. */
  get uid(): number | undefined {
    return this.#tenant.uid;
  }

  /** The thread that hashes files beside the main one. */
  get hashWorker(): string {
    return join(this.#tenant.root, 'dist', 'hash-worker.js');
  }

  /** Tells the parts of this process apart. */
  nextSerial(): string {
    this.#serial += 1;
    return this.#serial.toString(36);
  }

  async close(): Promise<void> {
    for (const place of this.#open.values()) {
      await place.then(({ directory }) => directory.close()).catch(() => {});
    }
  }

  async #find(path: string, make: boolean): Promise<Place> {
    const directory = await Directory.open(path, make);
    const { platform, uid, isRunning, uptime, heartbeatMs } = this.#tenant;
    const leftovers = await Leftovers.of(directory, {
      self: this.owner,
      uid,
      processAt: (pid) => processAt(pid, platform, isRunning),
      uptimeMs: () => uptime() * 1000,
      nextSerial: () => this.nextSerial(),
    });
    return { directory, leftovers, heartbeat: new Heartbeat(directory, heartbeatMs ?? HEARTBEAT_MS) };
  }
}
