// Draws the progress line at the bottom of a terminal. It is imported only where the line is shown, because loading
// cli-progress takes time.
import { MultiBar } from 'cli-progress';
import type { OutputStream } from '../world.ts';
import type { ProgressLine } from './progress-line.ts';
import { clipToColumns } from './width.ts';

const BAR_COLUMNS = 10;
const MIN_LABEL_COLUMNS = 32;
/** ED (ECMA-48): erases from the cursor to the end of the screen. */
const CLEAR_BELOW = '\x1b[J';
/**
 * The terminal keeps its wrapping and its cursor, so that there is nothing to restore if the program is killed. With
 * `gracefulExit`, cli-progress would handle signals. Without `forceRedraw`, a line that has not changed would not be
 * written again, and CLEAR_BELOW would erase it.
 */
const OPTIONS = { hideCursor: false, linewrap: true, gracefulExit: false, clearOnComplete: true, forceRedraw: true };

/** `readLine` is called for each frame. It returns printable strings, or undefined to draw nothing. */
export function createBar(stream: OutputStream, readLine: () => ProgressLine | undefined) {
  // Only a MultiBar can write lines above its bars. Undefined while it is hidden.
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
      // If the terminal becomes narrower and wraps the line, the cursor stays at its start, and the next frame clears
      // all rows below. The line is written before the rest is cleared, because tmux copies the screen to its history
      // whenever all of it is cleared.
      bar.on('redraw-post', () => stream.write(`${CLEAR_BELOW}\r`));
      // Draws the first frame. `format` ignores the two numbers.
      bar.create(1, 0);
      // cli-progress emits no `redraw-post` for the first frame.
      stream.write('\r');
    },
    hide() {
      // update() writes the lines that log() keeps for the next frame. stop() would drop them.
      bar?.update();
      bar?.stop();
      bar = undefined;
    },
    /** Each line must end with a line break. They appear with the next frame, or at once while the bar is hidden. */
    log(lines: string) {
      if (bar) bar.log(lines);
      else stream.write(lines);
    },
  };
}

/** Cuts a long label, such as a file name, so that it leaves room for the rest, and on a narrow terminal the rest. */
function fitToColumns({ label, share, facts }: ProgressLine, columns: number): string {
  const bar = share === undefined ? [] : [`[${'='.repeat(share * BAR_COLUMNS).padEnd(BAR_COLUMNS)}]`];
  const rest = [...bar, ...facts].map((text) => `  ${text}`).join('');
  const shortLabel = clipToColumns(label, Math.max(MIN_LABEL_COLUMNS, columns - rest.length));
  return clipToColumns(shortLabel + rest, Math.max(1, columns));
}
