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

/**
 * A row for each running file, no more than there is room for, and above them one for the whole run. To cli-progress all
 * of it is one bar. Between frames the cursor rests at the beginning of the first row: what the
 * terminal echoes there, such as `^C`, is drawn over or cleared with the rest.
 */
export function createBars(
  stream: OutputStream & { readonly rows?: number },
  running: Running,
  clear: (text: string) => string,
  monotonic: () => number,
) {
  let drawn: MultiBar | undefined;
  let isOver = false;

  const rowsIn = (width: number): readonly string[] => {
    const now = monotonic();
    const most = Math.max(1, (stream.rows || USUAL_ROWS) - 1);
    const reach = running.reach?.();
    const active = [...running.files].filter((file) => !reach || !file.isCompleting);
    const files = active.map((file) => fileLine(file, clear(file.name), now, width));
    return [...(reach ? [overallLine(running, reach, now, width)] : []), ...files].slice(0, most);
  };

  const redraw = () => drawn?.update();
  stream.on('resize', redraw);

  /** The terminal is somebody else's until `show`. */
  const hide = () => {
    const last = drawn;
    drawn = undefined;
    // stop() would drop the lines that log() holds.
    last?.update();
    last?.stop();
  };

  return {
    hide,

    /** Something moves: it is drawn from the next frame on. */
    show() {
      if (drawn !== undefined || isOver) return;
      let up = '';
      const format = (_: unknown, { maxWidth }: { readonly maxWidth: number }) => {
        const rows = drawn ? rowsIn(maxWidth) : [];
        up = rows.length > 1 ? `\x1b[${rows.length - 1}A` : '';
        return `${WRAP_OFF}${rows.join(NEXT_ROW)}${CLEAR_BELOW}`;
      };
      const bars = new MultiBar({ ...OPTIONS, stream, format });
      // A frame is one write.
      bars.on('update-pre', () => stream.cork());
      bars.on('redraw-post', () => stream.write(`\r${up}${WRAP_ON}`));
      bars.on('update-post', () => stream.uncork());
      bars.create(1, 0);
      drawn = bars;
    },

    /** Writes whole lines above what moves, at the latest with the next frame. */
    log(lines: string) {
      if (drawn) drawn.log(`${CLEAR_BELOW}${WRAP_ON}${lines}`);
      else stream.write(lines);
    },

    /** Nothing is in the way of what is written to this terminal before the next frame. */
    clearForOutput() {
      redraw();
      if (drawn) stream.write(CLEAR_BELOW);
    },

    /** Clears what moves, permanently; `echoed`: the keys that end it have been shown. */
    stop(echoed = false) {
      isOver = true;
      hide();
      stream.off('resize', redraw);
      if (echoed) stream.write(`\r${CLEAR_BELOW}`);
    },
  };
}
