import type { FileState, Overall, Wait } from './lines.ts';

const WINDOW_MS = 10_000;
const STEP_MS = 250;

/** Speed over the last seconds: falls to zero when nothing comes, forgets how it began. */
export class Speedometer {
  /** When, and how many bytes had come by then; the oldest first. */
  readonly #samples: (readonly [at: number, bytes: number])[];
  #bytes = 0;

  /** `now`: milliseconds of a clock that never steps. */
  constructor(now: number) {
    this.#samples = [[now, 0]];
  }

  advance(bytes: number, now: number): void {
    this.#bytes += bytes;
    if (now - (this.#samples.at(-1)?.[0] ?? 0) < STEP_MS) return;
    this.#samples.push([now, this.#bytes]);
    while (this.#samples.length > 2 && now - (this.#samples[1]?.[0] ?? now) > WINDOW_MS) this.#samples.shift();
  }

  /** Bytes a second; undefined when it is too early to say. */
  rate(now: number): number | undefined {
    const [at, bytes] = this.#samples[0] ?? [now, 0];
    return now - at < STEP_MS ? undefined : ((this.#bytes - bytes) * 1000) / (now - at);
  }
}

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
  readonly #started: StartedFile;
  readonly #monotonic: () => number;
  #bytes: number;
  #total: number | undefined;
  #begun = false;
  #speed: Speedometer;

  constructor(started: StartedFile, monotonic: () => number) {
    this.#started = started;
    this.#bytes = started.offset;
    this.#monotonic = monotonic;
    this.#speed = new Speedometer(monotonic());
  }

  /** Bytes that are still to come; undefined when nobody has told. */
  get missing(): number | undefined {
    const total = this.#begun ? this.#total : this.#started.size;
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

  /** What its line shows; `clear` makes a text printable, without a secret. */
  state(clear: (text: string) => string): FileState {
    return {
      name: clear(this.#started.name),
      bytes: this.#begun ? this.#bytes : undefined,
      total: this.#total,
      rate: this.#speed.rate(this.#monotonic()),
      waiting: this.waiting && { reason: clear(this.waiting.reason), next: this.waiting.next },
    };
  }
}

/** How far a run of several files is, as far as that is known. */
export interface Reach {
  /** Files that have ended. */
  readonly files: number;
  /** How many there are in all. */
  readonly of: number | undefined;
  readonly failed: number;
  /** Bytes of the files that have not begun. */
  readonly waiting: number | undefined;
}

/** All that is running: the files, and how far the whole run is. */
export class Running {
  readonly files = new Set<RunningFile>();
  readonly #monotonic: () => number;
  readonly #began: number;
  readonly #speed: Speedometer;
  #bytes = 0;
  /** Undefined, or giving undefined: it is no run of several files. */
  reach: (() => Reach | undefined) | undefined;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
    this.#began = monotonic();
    this.#speed = new Speedometer(this.#began);
  }

  advance(bytes: number): void {
    this.#bytes += bytes;
    this.#speed.advance(bytes, this.#monotonic());
  }

  /** What the line above the files shows. */
  overall(): Overall | undefined {
    const reach = this.reach?.();
    if (reach === undefined) return undefined;
    const now = this.#monotonic();
    let due = reach.waiting;
    for (const { missing } of this.files) due = due === undefined || missing === undefined ? undefined : due + missing;
    return { ...reach, bytes: this.#bytes, due, rate: this.#speed.rate(now), ms: now - this.#began };
  }
}
