import type { BarState } from './bar-line.ts';
import type { Moved, Reach } from './overall-line.ts';
import type { RunningFile } from './running-file.ts';
import { Speedometer } from './speed.ts';

/** What moves, as the lines of a screen show it. */
export interface Shown {
  readonly overall: readonly [reach: Reach, moved: Moved] | undefined;
  readonly files: readonly BarState[];
}

/** All that moves: the running files, and above them how far the whole run is. */
export class Running {
  readonly #files = new Set<RunningFile>();
  readonly #monotonic: () => number;
  readonly #began: number;
  readonly #speed: Speedometer;
  #reach: (() => Reach | undefined) | undefined;
  #bytes = 0;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
    this.#began = monotonic();
    this.#speed = new Speedometer(this.#began);
  }

  add(file: RunningFile): void {
    this.#files.add(file);
  }

  remove(file: RunningFile): void {
    this.#files.delete(file);
  }

  advance(bytes: number): void {
    this.#bytes += bytes;
    this.#speed.advance(bytes, this.#monotonic());
  }

  /** Shows how far the whole run is; undefined: it is no run of several files. */
  overall(reach: () => Reach | undefined): void {
    this.#reach = reach;
  }

  /** No more than there are rows for. */
  shown(rows: number): Shown {
    const reach = this.#reach?.();
    const files = [...this.#files].slice(0, reach ? rows - 1 : rows);
    return { overall: reach && [reach, this.#moved()], files: files.map(({ state }) => state) };
  }

  #moved(): Moved {
    const now = this.#monotonic();
    const missing = [...this.#files].map((file) => file.missing);
    const all = missing.every((bytes) => bytes !== undefined);
    return {
      bytes: this.#bytes,
      missing: all ? missing.reduce((sum, bytes) => sum + bytes, 0) : undefined,
      rate: this.#speed.rate(now),
      ms: now - this.#began,
    };
  }
}
