import type { OutputStream } from '../../world.ts';

const FRAME_MS = 100;
const [USUAL_COLUMNS, USUAL_ROWS] = [80, 24];
const LINE_BREAK = 0x0a;
/** Without wrapping a line takes one row, also on a terminal that became narrower a moment ago. */
const [WRAP_OFF, WRAP_ON] = ['\x1b[?7l', '\x1b[?7h'];
/**
 * To the next row by being wrapped, from the last column wherever that is: so all rows are one line to the terminal, which
 * on a resize moves the cursor with the beginning of that line, and not with the rows that it inserts below.
 */
const NEXT_ROW = `\x1b[K\x1b[999C${WRAP_ON}  \r${WRAP_OFF}`;

/** What moves: no more than `rows` lines, each narrower than `width` columns. */
export type Moving = (width: number, rows: number) => readonly string[];

/**
 * The one owner of a terminal's last lines: draws what moves, and makes way for what stays. The cursor rests at the
 * beginning of the first line that moves: what the terminal echoes there, such as `^C`, and what a resize wraps, are
 * drawn over or cleared with the rest.
 */
export class Screen {
  readonly #stream: OutputStream & { readonly rows?: number };
  readonly #moving: Moving;
  #timer: NodeJS.Timeout | undefined;
  #drawn = false;
  /** The last line of the data has not ended. */
  #open = false;
  #stopped = false;
  readonly #onResize = () => {
    if (this.#drawn) this.#stream.write(this.#frame());
  };

  constructor(stream: OutputStream, moving: Moving) {
    this.#stream = stream;
    this.#moving = moving;
  }

  /** Something moves: it is drawn from the next frame on. */
  wake(): void {
    if (this.#timer !== undefined || this.#stopped) return;
    this.#timer = setInterval(() => this.#tick(), FRAME_MS).unref();
    this.#stream.on('resize', this.#onResize);
  }

  /** Writes whole lines above what moves. */
  above(lines: string): void {
    const text = `${this.#clearing()}${this.#open ? '\n' : ''}${lines}`;
    const wasDrawn = this.#drawn;
    this.#open = false;
    this.#stream.write(wasDrawn ? text + this.#frame() : text);
  }

  /** Nothing that moves stands in the way of the bytes that are about to be written to this terminal. */
  makeWay(bytes: Uint8Array): void {
    this.#clear();
    if (bytes.length > 0) this.#open = bytes.at(-1) !== LINE_BREAK;
  }

  /** A signal has come; `echoed`: from the keys, which the terminal has shown. */
  interrupted(echoed: boolean): void {
    if (echoed && !this.#open) this.#drawn = true;
    this.stop();
  }

  /** Clears what moves, for good, and ends the data's last line. */
  stop(): void {
    this.#stopped = true;
    this.#rest();
    this.#clear();
    if (this.#open) this.#stream.write('\n');
    this.#open = false;
  }

  #tick(): void {
    const frame = this.#open ? '' : this.#frame();
    if (frame !== '') this.#stream.write(frame);
    if (frame === '' && !this.#open) this.#rest();
  }

  #rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#stream.off('resize', this.#onResize);
  }

  #clear(): void {
    const clearing = this.#clearing();
    this.#drawn = false;
    if (clearing !== '') this.#stream.write(clearing);
  }

  #clearing(): string {
    return this.#drawn ? '\r\x1b[J' : '';
  }

  /** All lines at once, and back to the first; with nothing to draw, what was drawn is cleared. */
  #frame(): string {
    const { columns, rows } = this.#stream;
    const lines = this.#moving(columns || USUAL_COLUMNS, Math.max(1, (rows || USUAL_ROWS) - 1));
    const clearing = this.#clearing();
    this.#drawn = lines.length > 0;
    if (lines.length === 0) return clearing;
    const up = lines.length > 1 ? `\x1b[${lines.length - 1}A` : '';
    return `${WRAP_OFF}\r${lines.join(NEXT_ROW)}\x1b[J\r${up}${WRAP_ON}`;
  }
}
