import type { OutputStream } from '../../world.ts';

const USUAL_COLUMNS = 80;
/** Without wrapping a line takes one row, also on a terminal that became narrower a moment ago. */
const [WRAP_OFF, WRAP_ON] = ['\x1b[?7l', '\x1b[?7h'];
/**
 * To the next row by being wrapped, from the last column wherever that is: so all rows are one line to the terminal, which
 * on a resize moves the cursor with the beginning of that line, and not with the rows that it inserts below.
 */
const NEXT_ROW = `\x1b[K\x1b[999C${WRAP_ON}  \r${WRAP_OFF}`;

/**
 * The terminal as cli-progress asks for it (`options.terminal`, which it does not document): a frame is one write, behind
 * which the cursor rests at the beginning of its first row. What the terminal echoes there, such as `^C`, and what a
 * resize wraps, are drawn over or cleared with the rest.
 */
export class FrameTerminal {
  readonly #stream: OutputStream;
  #above = '';
  #rows: string[] = [];
  #isDrawn = false;

  constructor(stream: OutputStream) {
    this.#stream = stream;
  }

  isTTY(): boolean {
    return true;
  }

  getWidth(): number {
    return this.#stream.columns || USUAL_COLUMNS;
  }

  cursor(isShown: boolean): void {
    this.#stream.write(isShown ? '\x1b[?25h' : '\x1b[?25l');
  }

  /** A frame begins. */
  cursorRelativeReset(): void {
    this.#above = '';
    this.#rows = [];
  }

  write(text: string, isLogged = false): void {
    if (isLogged) this.#above += text;
    else this.#rows.push(text);
  }

  /** A frame ends: logged lines go above the rows. */
  draw(): void {
    if (this.#above !== '' || this.#rows.length === 0) this.clear();
    const up = this.#rows.length > 1 ? `\x1b[${this.#rows.length - 1}A` : '';
    const rows = this.#rows.length === 0 ? '' : `${WRAP_OFF}\r${this.#rows.join(NEXT_ROW)}\x1b[J\r${up}${WRAP_ON}`;
    if (this.#above !== '' || rows !== '') this.#stream.write(this.#above + rows);
    this.#isDrawn = rows !== '';
  }

  /** `echoed`: something was typed where no row is, such as Ctrl-C. */
  clear(echoed = false): void {
    if (this.#isDrawn || echoed) this.#stream.write('\r\x1b[J');
    this.#isDrawn = false;
  }

  // Frames see to all of this.
  lineWrapping(): void {}
  cursorTo(): void {}
  newline(): void {}
  clearLine(): void {}
  clearRight(): void {}
  clearBottom(): void {}
}
