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
