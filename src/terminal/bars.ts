import { MultiBar } from 'cli-progress';
import type { OutputStream } from '../world.ts';
import { fileLine, overallLine, type Running } from './lines.ts';

// Draws the progress of a run at the bottom of a terminal, where other programs and the user may write, too: a row for
// the whole run, and below it one for each running file. Takes the state of the run and returns functions to show and
// hide it.

const USUAL_ROWS = 24;
const CLEAR_BELOW = '\x1b[J';
/** Without wrapping a line takes one row, even on a terminal that has just become narrower. */
const [WRAP_OFF, WRAP_ON] = ['\x1b[?7l', '\x1b[?7h'];
/**
 * Moves to the next row by auto-wrap from the last column instead of '\n', so that all rows are one line of the
 * terminal. On a resize the terminal reflows them together and keeps the cursor at the beginning of that line.
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

/**
 * Returns functions that draw as many rows as there is room for. For cli-progress all rows are one bar. Between frames
 * the cursor is at the beginning of the first row, so that the next frame overwrites the echo of keys, such as `^C`.
 */
export function createBars(
  stream: OutputStream & { readonly rows?: number },
  running: Running,
  sanitize: (text: string) => string,
  monotonic: () => number,
) {
  let multiBar: MultiBar | undefined;
  let isOver = false;

  const rowsIn = (width: number): readonly string[] => {
    const now = monotonic();
    const maxRows = Math.max(1, (stream.rows || USUAL_ROWS) - 1);
    const batch = running.batch?.();
    const active = [...running.files].filter((file) => !batch || !file.isCompleting);
    const files = active.map((file) => fileLine(file, sanitize(file.name), now, width));
    return [...(batch ? [overallLine(running, batch, now, width)] : []), ...files].slice(0, maxRows);
  };

  const redraw = () => multiBar?.update();
  stream.on('resize', redraw);

  /** Leaves the terminal to others until `show`. */
  const hide = () => {
    const last = multiBar;
    multiBar = undefined;
    // stop() would drop the lines that log() keeps for the next frame.
    last?.update();
    last?.stop();
  };

  return {
    hide,

    /** Draws from the next frame on. */
    show() {
      if (multiBar !== undefined || isOver) return;
      let cursorUp = '';
      const format = (_: unknown, { maxWidth }: { readonly maxWidth: number }) => {
        const rows = multiBar ? rowsIn(maxWidth) : [];
        cursorUp = rows.length > 1 ? `\x1b[${rows.length - 1}A` : '';
        return `${WRAP_OFF}${rows.join(NEXT_ROW)}${CLEAR_BELOW}`;
      };
      const bars = new MultiBar({ ...OPTIONS, stream, format });
      // A frame is one write.
      bars.on('update-pre', () => stream.cork());
      bars.on('redraw-post', () => stream.write(`\r${cursorUp}${WRAP_ON}`));
      bars.on('update-post', () => stream.uncork());
      bars.create(1, 0);
      multiBar = bars;
    },

    /** Writes whole lines above the bars, at the latest with the next frame. */
    log(lines: string) {
      if (multiBar) multiBar.log(`${CLEAR_BELOW}${WRAP_ON}${lines}`);
      else stream.write(lines);
    },

    /** Clears the bars, so that other output can be written to this terminal before the next frame. */
    clearForOutput() {
      redraw();
      if (multiBar) stream.write(CLEAR_BELOW);
    },

    /** Clears the bars permanently. With `isEchoed` also clears the echo of the keys that ended the run. */
    stop(isEchoed = false) {
      isOver = true;
      hide();
      stream.off('resize', redraw);
      if (isEchoed) stream.write(`\r${CLEAR_BELOW}`);
    },
  };
}
