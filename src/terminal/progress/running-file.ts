import type { BarState, Wait } from './bar-line.ts';
import { Speedometer } from './speed.ts';

export interface StartedFile {
  readonly name: string;
  /** Bytes that are there already. */
  readonly offset: number;
  /** Bytes that it has, where a listing says so. */
  readonly size?: number | undefined;
}

/** What is known of a running transfer. */
export class RunningFile {
  waiting: Wait | undefined;
  #bytes: number;
  #total: number | undefined;
  #begun = false;
  readonly #raw: string;
  readonly #clear: (text: string) => string;
  #name: string | undefined;
  readonly #size: number | undefined;
  readonly #monotonic: () => number;
  #speed: Speedometer;

  /** `clear` makes a text printable, without a secret. */
  constructor({ name, offset, size }: StartedFile, clear: (text: string) => string, monotonic: () => number) {
    this.#raw = name;
    this.#clear = clear;
    this.#bytes = offset;
    this.#size = size;
    this.#monotonic = monotonic;
    this.#speed = new Speedometer(monotonic());
  }

  /** Printable. Made when it is asked for: most files of a batch are never shown. */
  get name(): string {
    this.#name ??= this.#clear(this.#raw);
    return this.#name;
  }

  /** Bytes that are still to come; undefined when nobody has told. */
  get missing(): number | undefined {
    const total = this.#begun ? this.#total : this.#size;
    return total === undefined ? undefined : Math.max(0, total - this.#bytes);
  }

  begin(total: number | undefined, offset: number | undefined): void {
    this.#begun = true;
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

  /** What its line shows. */
  get state(): BarState {
    return {
      name: this.name,
      bytes: this.#begun ? this.#bytes : undefined,
      total: this.#total,
      rate: this.#speed.rate(this.#monotonic()),
      waiting: this.waiting,
    };
  }
}
