import { constants, linkSync, lstatSync, open, openSync, renameSync, type Stats, unlinkSync } from 'node:fs';
import { link, lstat, rename, statfs, unlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { errnoOf } from '../../errors.ts';
import { isLocalType } from './local-disk.ts';
import { LoopTime } from './loop-time.ts';
import { Descriptor, type OpenFile } from './open-file.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;
/** A file that nobody else has, nor had. */
const NEW = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;

const openLater = promisify(open) as (path: string, flags: number, mode: number) => Promise<number>;

/** What a run has for waiting. A call that makes a file may be slow where all others are quick: it must not use up their time. */
export class Waiting {
  readonly calls: LoopTime;
  readonly making: LoopTime;

  /** `monotonic` in milliseconds. */
  constructor(monotonic: () => number) {
    this.calls = new LoopTime(monotonic, setImmediate);
    this.making = new LoopTime(monotonic, setImmediate);
  }
}

/**
 * System calls on names and small files. To hand one to the pool of threads and to hear of it takes ten times as long as the
 * call itself on a disk of this machine; so there they are waited for, as long as the event loop has time. Errors are the system's own.
 */
export class Disk {
  /** Undefined: none is waited for. */
  readonly #waiting: Waiting | undefined;

  private constructor(waiting: Waiting | undefined) {
    this.#waiting = waiting;
  }

  /** The disk that a directory is on. Only Linux tells what it is. Never throws. */
  static async under(directory: string, platform: string, waiting: Waiting): Promise<Disk> {
    const type = platform === 'linux' ? await statfs(directory).catch(() => undefined) : undefined;
    return new Disk(type && isLocalType(type.type) ? waiting : undefined);
  }

  /** Waits for a call if that may be, and otherwise has a thread wait for it. */
  async call<T>(now: () => T, later: () => Promise<T>): Promise<T> {
    const waited = this.#waiting?.calls.spend(now);
    return waited ? waited.value : later();
  }

  /** Makes a file that must not be there yet. */
  async make(path: string, mode: number): Promise<OpenFile> {
    const made = this.#waiting?.making.spend(() => openSync(path, NEW, mode));
    return new Descriptor(made ? made.value : await openLater(path, NEW, mode), this);
  }

  /** What stands under a name, no link followed; undefined where nothing does. */
  look(path: string): Promise<Stats | undefined> {
    return this.call(
      () => lstatSync(path, { throwIfNoEntry: false }),
      () => lstat(path).catch(unlessMissing),
    );
  }

  link(from: string, to: string): Promise<void> {
    return this.call(
      () => linkSync(from, to),
      () => link(from, to),
    );
  }

  rename(from: string, to: string): Promise<void> {
    return this.call(
      () => renameSync(from, to),
      () => rename(from, to),
    );
  }

  unlink(path: string): Promise<void> {
    return this.call(
      () => unlinkSync(path),
      () => unlink(path),
    );
  }
}

function unlessMissing(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
}
