// Draws the progress line at the bottom of a terminal, below all messages. The line has a label, such as the name of a
// file, then a bar, and facts such as the speed. This module is imported only where the line is shown, so that other
// runs do not load cli-progress.
import { MultiBar } from 'cli-progress';
import type { OutputStream } from '../world.ts';
import type { ProgressLine } from './progress-line.ts';
import { clipToColumns, displayWidth } from './width.ts';

const BAR_COLUMNS = 10;
/** A file name may be cut to this many columns. To keep that many, the bar is left out first, and then facts. */
const MIN_NAME_COLUMNS = 20;
/** ED (ECMA-48): erases from the cursor to the end of the screen. */
const CLEAR_BELOW = '\x1b[J';
/**
 * The terminal keeps its wrapping and its cursor, so that there is nothing to restore if the program is killed. With
 * `gracefulExit`, cli-progress would handle signals, which this program does itself. Without `forceRedraw`, a line that
 * has not changed would not be written again, and CLEAR_BELOW would erase it. `clearOnComplete` makes `stop` clear the
 * line.
 */
const OPTIONS = { hideCursor: false, linewrap: true, gracefulExit: false, clearOnComplete: true, forceRedraw: true };

/** @param readLine called for each frame. Returns printable strings (printable.ts), or undefined to draw nothing */
export function createBar(stream: OutputStream, readLine: () => ProgressLine | undefined) {
  // A MultiBar with a single bar, because only a MultiBar can write lines above its bars. Undefined while it is hidden.
  let bar: MultiBar | undefined;
  const format = (_: unknown, { maxWidth }: { readonly maxWidth: number }) => {
    const line = readLine();
    // The last column stays free, because some terminals move to the next line as soon as it is written.
    return line ? fitToColumns(line, maxWidth - 1) : '';
  };
  return {
    show() {
      if (bar) return;
      bar = new MultiBar({ ...OPTIONS, stream, format });
      // After each frame the cursor returns to the start of the line. If the terminal becomes narrower and wraps the
      // line, the cursor stays there, and the next frame clears all rows below. The line is written before the rest is
      // cleared, because tmux copies the screen to its history whenever all of it is cleared.
      bar.on('redraw-post', () => stream.write(`${CLEAR_BELOW}\r`));
      // Draws the first frame. `format` ignores the two numbers, a total and a value.
      bar.create(1, 0);
      // cli-progress emits no `redraw-post` for the first frame.
      stream.write('\r');
    },
    /** Clears the line until the next `show`. */
    hide() {
      // update() writes the lines that log() keeps for the next frame. stop() would drop them.
      bar?.update();
      bar?.stop();
      bar = undefined;
    },
    /**
     * Writes lines above the progress line when the next frame is drawn, or at once while it is hidden. Each must end
     * with a line break.
     */
    log(lines: string) {
      if (bar) bar.log(lines);
      else stream.write(lines);
    },
  };
}

/**
 * Leaves out the bar first, then facts from the last to the first, until there is room for the label. A file name needs
 * only MIN_NAME_COLUMNS, any other label its whole width. Cuts the label if it still does not fit. `share` is how much
 * of the work is done, from 0 to 1.
 */
function fitToColumns({ label, isName, share, facts }: ProgressLine, columns: number): string {
  // `repeat` rounds down.
  const bar = share === undefined ? [] : [`[${'='.repeat(share * BAR_COLUMNS).padEnd(BAR_COLUMNS)}]`];
  // What may follow the label, from the longest to the shortest. If none fits, the label stands alone.
  const withoutBar = facts.map((_, dropped) => facts.slice(0, facts.length - dropped));
  const tails = [[...bar, ...facts], ...withoutBar].map((texts) => ['', ...texts].join('  '));
  const minLabelColumns = Math.min(displayWidth(label), isName ? MIN_NAME_COLUMNS : columns);
  const tail = tails.find((text) => columns - displayWidth(text) >= minLabelColumns) ?? '';
  return clipToColumns(label, Math.max(1, columns - displayWidth(tail))) + tail;
}
