import { MultiBar } from 'cli-progress';
import type { OutputStream } from '../world.ts';
import { fileLine, overallLine, type Running } from './lines.ts';

const USUAL_ROWS = 24;
const CLEAR_BELOW = '\x1b[J';
/** Without wrapping a line takes one row, also on a terminal that became narrower a moment ago. */
const [WRAP_OFF, WRAP_ON] = ['\x1b[?7l', '\x1b[?7h'];
/**
 * To the next row by being wrapped, from the last column wherever that is: so all rows are one line to the terminal, which
 * on a resize moves the cursor with the beginning of that line, and not with the rows that it inserts below.
 */
const NEXT_ROW = `\x1b[K\x1b[999C${WRAP_ON}  \r${WRAP_OFF}`;

const OPTIONS = {
  gracefulExit: false,
  clearOnComplete: true,
  hideCursor: true,
  linewrap: false,
  noTTYOutput: false,
  forceRedraw: true,
};

type Stream = OutputStream & { readonly rows?: number };

/**
 * What moves on a terminal: a row for each running file, no more than there is room for, and above them one for the whole
 * run. To cli-progress all of it is one bar. Between frames the cursor rests at the beginning of the first row: what the
 * terminal echoes there, such as `^C`, is drawn over or cleared with the rest.
 */
export class Bars {
  readonly #stream: Stream;
  readonly #running: Running;
  readonly #clear: (text: string) => string;
  readonly #monotonic: () => number;
  #drawn: MultiBar | undefined;
  #isOver = false;
  readonly #redraw = () => this.#drawn?.update();

  constructor(stream: Stream, running: Running, clear: (text: string) => string, monotonic: () => number) {
    this.#stream = stream;
    this.#running = running;
    this.#clear = clear;
    this.#monotonic = monotonic;
    stream.on('resize', this.#redraw);
  }

  /** Something moves: it is drawn from the next frame on. */
  show(): void {
    if (this.#drawn !== undefined || this.#isOver) return;
    let up = '';
    const format = (_: unknown, { maxWidth }: { readonly maxWidth: number }) => {
      const rows = this.#drawn ? this.#rows(maxWidth) : [];
      up = rows.length > 1 ? `\x1b[${rows.length - 1}A` : '';
      return `${WRAP_OFF}${rows.join(NEXT_ROW)}${CLEAR_BELOW}`;
    };
    const drawn = new MultiBar({ ...OPTIONS, stream: this.#stream, format });
    // A frame is one write.
    drawn.on('update-pre', () => this.#stream.cork());
    drawn.on('redraw-post', () => this.#stream.write(`\r${up}${WRAP_ON}`));
    drawn.on('update-post', () => this.#stream.uncork());
    drawn.create(1, 0);
    this.#drawn = drawn;
  }

  /** Writes whole lines above what moves, at the latest with the next frame. */
  log(lines: string): void {
    if (this.#drawn) this.#drawn.log(`${CLEAR_BELOW}${WRAP_ON}${lines}`);
    else this.#stream.write(lines);
  }

  /** Nothing is in the way of what is written to this terminal before the next frame. */
  makeWay(): void {
    this.#redraw();
    if (this.#drawn) this.#stream.write(CLEAR_BELOW);
  }

  /** The terminal is somebody else's until `show`. */
  hide(): void {
    const drawn = this.#drawn;
    this.#drawn = undefined;
    // stop() would drop the lines that log() holds.
    drawn?.update();
    drawn?.stop();
  }

  /** Clears what moves, permanently; `echoed`: the keys that end it have been shown. */
  stop(echoed = false): void {
    this.#isOver = true;
    this.hide();
    this.#stream.off('resize', this.#redraw);
    if (echoed) this.#stream.write(`\r${CLEAR_BELOW}`);
  }

  #rows(width: number): readonly string[] {
    const now = this.#monotonic();
    const most = Math.max(1, (this.#stream.rows || USUAL_ROWS) - 1);
    const reach = this.#running.reach?.();
    const files = Array.from(this.#running.files, (file) => fileLine(file, this.#clear(file.name), now, width));
    return [...(reach ? [overallLine(this.#running, reach, now, width)] : []), ...files].slice(0, most);
  }
}
