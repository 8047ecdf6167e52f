import { barLine } from './bar-line.ts';
import type { Line } from './bars.ts';
import { Speedometer } from './speed.ts';

export interface StartedFile {
  readonly name: string;
  /** Bytes that are there already. */
  readonly offset: number;
}

/** What is known of a running transfer. */
export class RunningFile {
  waiting: string | undefined;
  #bytes: number;
  #total: number | undefined;
  readonly #name: string;
  readonly #monotonic: () => number;
  #speed: Speedometer;

  constructor({ name, offset }: StartedFile, monotonic: () => number) {
    this.#name = name;
    this.#bytes = offset;
    this.#monotonic = monotonic;
    this.#speed = new Speedometer(monotonic());
  }

  begin(total: number | undefined, offset: number | undefined): void {
    this.#total = total;
    this.#bytes = offset ?? this.#bytes;
    this.waiting = undefined;
    this.#speed = new Speedometer(this.#monotonic());
  }

  advance(bytes: number): void {
    this.#bytes += bytes;
    this.waiting = undefined;
    this.#speed.advance(bytes, this.#monotonic());
  }

  readonly line: Line = (width) =>
    barLine(
      {
        name: this.#name,
        bytes: this.#bytes,
        total: this.#total,
        rate: this.#speed.rate(this.#monotonic()),
        waiting: this.waiting,
      },
      width,
    );
}
