import { closeSync, fstatSync, futimesSync, openSync, statSync, writeSync } from 'node:fs';
import type { Scheduler } from './scheduler.ts';
import { EPOCH } from './service.ts';

/** It takes so long to start again, in milliseconds: nobody is taken for a twin that still runs. */
const REBOOT_MS = 180_000;
/** Before anything of a schedule runs. Seconds. */
const START_SECONDS = 20;

/** The machine that all processes run on: when it was started, and what its disk does not have yet. */
export class Machine {
  readonly #scheduler: Scheduler;
  #boots = 1;
  #bootedAt = 0;
  /** How many bytes of a file are on disk for certain, where it has more. */
  readonly #flushed = new Map<number, number>();

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  get bootId(): string {
    return `boot ${this.#boots}`;
  }

  uptimeSeconds(): number {
    return START_SECONDS + (this.#scheduler.now - this.#bootedAt) / 1000;
  }

  /** Something is about to be put into a file, from `position` on, or at its end. */
  dirties(fd: number, position: number | null): void {
    const { ino, size } = fstatSync(fd);
    this.#flushed.set(ino, Math.min(this.#flushed.get(ino) ?? size, position ?? size));
  }

  /** A file's own times are the schedule's. */
  touched(fd: number): void {
    const seconds = (EPOCH + this.#scheduler.now) / 1000;
    futimesSync(fd, seconds, seconds);
  }

  flushed(fd: number): void {
    this.#flushed.delete(fstatSync(fd).ino);
  }

  /** It starts again, long after its power went: of these files, what was not flushed is zeros. */
  reboot(files: readonly string[]): void {
    this.#boots += 1;
    this.#scheduler.now += REBOOT_MS;
    this.#bootedAt = this.#scheduler.now;
    for (const path of files) {
      const { ino, size, atime, mtime } = statSync(path);
      const flushed = this.#flushed.get(ino) ?? size;
      if (flushed >= size) continue;
      const fd = openSync(path, 'r+');
      writeSync(fd, Buffer.alloc(size - flushed), 0, size - flushed, flushed);
      futimesSync(fd, atime, mtime);
      closeSync(fd);
    }
    this.#flushed.clear();
  }
}
