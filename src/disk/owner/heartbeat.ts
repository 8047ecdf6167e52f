import type { Directory } from '../directory/directory.ts';
import type { GatheredFile } from '../gathered-file.ts';
import { timeIn } from './clock.ts';

/**
 * Touches the open files of one directory in an interval, also while nothing arrives, so that other machines see
 * that their owner lives. The time is that of the file system's own clock, taken from a file made beside them.
 */
export class Heartbeat {
  readonly #directory: Directory;
  readonly #everyMs: number;
  readonly #files = new Map<GatheredFile, () => string>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #beating: Promise<void> | undefined;

  constructor(directory: Directory, everyMs: number) {
    this.#directory = directory;
    this.#everyMs = everyMs;
  }

  /** Touches a file from now on. `probe` names one that may tell the time: whoever finds it after a kill must know it for litter. */
  add(file: GatheredFile, probe: () => string): void {
    this.#files.set(file, probe);
    // It holds no process that is done otherwise.
    this.#timer ??= setInterval(() => void this.#beat(), this.#everyMs).unref();
  }

  /** No more, also for a file that was never added. */
  remove(file: GatheredFile): void {
    this.#files.delete(file);
    if (this.#files.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Until nothing of it is under way, once no file is left: its directory may be closed then. */
  async rest(): Promise<void> {
    await this.#beating;
  }

  /** A disk that does not answer gets no second touch meanwhile; one that fails costs others' patience, nothing else. */
  async #beat(): Promise<void> {
    const [probe] = this.#files.values();
    if (this.#beating || !probe) return;
    this.#beating = this.#touch(probe);
    await this.#beating;
    this.#beating = undefined;
  }

  async #touch(probe: () => string): Promise<void> {
    const now = await timeIn(this.#directory, probe);
    if (now) await Promise.allSettled([...this.#files.keys()].map((file) => file.touch(now)));
  }
}
