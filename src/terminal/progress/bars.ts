import type { MultiBar, Options, SingleBar } from 'cli-progress';
import type { OutputStream } from '../../world.ts';

const FRAMES_A_SECOND = 10;

type Terminal = OutputStream & { readonly rows?: number };
/** The text of a transfer's line for a width in columns. */
export type Line = (width: number) => string;

/** Lines that are redrawn in place at the bottom of a terminal. */
export class Bars {
  readonly #stream: Terminal;
  readonly #makeMulti: () => MultiBar;
  /** One for each time that anything moves: the library leaves the last line of an emptied one behind. */
  #multi: MultiBar | undefined;
  readonly #bars = new Map<Line, SingleBar>();

  private constructor(stream: Terminal, makeMulti: () => MultiBar) {
    this.#stream = stream;
    this.#makeMulti = makeMulti;
  }

  /** Loads the library that draws them. */
  static async on(stream: OutputStream): Promise<Bars> {
    const { default: cliProgress } = await import('cli-progress');
    const options: Options = {
      stream,
      fps: FRAMES_A_SECOND,
      // Signals are the program's own business.
      gracefulExit: false,
      clearOnComplete: true,
      // A note above moves every line down: an unchanged one too has to be drawn again.
      forceRedraw: true,
      // The lines keep to the width by themselves; true leaves the terminal's own wrapping on.
      linewrap: true,
      format: (_options, { maxWidth }, { line }: { line: Line }) => line(maxWidth),
    };
    return new Bars(stream, () => new cliProgress.MultiBar(options));
  }

  /** Shows one more line, unless the terminal is too low for it. */
  add(line: Line): void {
    if (this.#bars.size + 2 > (this.#stream.rows || 24)) return;
    this.#multi ??= this.#makeMulti();
    this.#bars.set(line, this.#multi.create(1, 0, { line }));
  }

  remove(line: Line): void {
    const bar = this.#bars.get(line);
    if (bar === undefined) return;
    this.#bars.delete(line);
    if (this.#bars.size > 0) this.#multi?.remove(bar);
    else this.#clear();
  }

  /** Writes whole lines above; each clears what a longer one left. */
  above(text: string): void {
    if (this.#multi === undefined) this.#stream.write(text);
    else this.#multi.log(text.replaceAll('\n', '\x1b[K\n'));
  }

  stop(): void {
    this.#clear();
  }

  #clear(): void {
    // First what was written above and not yet shown.
    this.#multi?.update();
    this.#multi?.stop();
    this.#multi = undefined;
  }
}
