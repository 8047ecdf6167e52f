import type { OutputStream } from '../../world.ts';
import type { Bars, Line } from './bars.ts';

/** The moving lines; their library loads with the first of them, and nothing waits for it. */
export class Screen {
  readonly #stream: OutputStream;
  readonly #lines = new Set<Line>();
  #bars: Bars | undefined;
  #loading = false;
  #stopped = false;

  constructor(stream: OutputStream) {
    this.#stream = stream;
  }

  add(line: Line): void {
    this.#lines.add(line);
    this.#bars?.add(line);
    if (!this.#loading) void this.#load();
  }

  remove(line: Line): void {
    this.#lines.delete(line);
    this.#bars?.remove(line);
  }

  above(text: string): void {
    if (this.#bars === undefined) this.#stream.write(text);
    else this.#bars.above(text);
  }

  stop(): void {
    this.#stopped = true;
    this.#bars?.stop();
    this.#bars = undefined;
  }

  async #load(): Promise<void> {
    this.#loading = true;
    const { Bars } = await import('./bars.ts');
    const bars = await Bars.on(this.#stream);
    if (this.#stopped) return bars.stop();
    this.#bars = bars;
    for (const line of this.#lines) bars.add(line);
  }
}
