import { barLine, type Wait } from './bar-line.ts';
import { Speedometer } from './speed.ts';

export interface StartedFile {
  readonly name: string;
  /** Bytes that are there already. */
  readonly offset: number;
}

/** What is known of a running transfer. */
export class RunningFile {
  waiting: Wait | undefined;
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

  /** Bytes that are still to come; undefined when nobody has told. */
  get missing(): number | undefined {
    return this.#total === undefined ? undefined : Math.max(0, this.#total - this.#bytes);
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

  /** Its line, narrower than `width` columns. */
  line(width: number): string {
    return barLine(
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
}
