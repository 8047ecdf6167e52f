// Draws the line of progress at the bottom of a terminal. It is loaded only where there is one.
import { MultiBar } from 'cli-progress';
import type { OutputStream } from '../world.ts';
import type { ProgressLine } from './progress-line.ts';
import { clipped, displayWidth } from './width.ts';

const BAR_COLUMNS = 10;
/** A longer name is shortened to this before the bar is left out. */
const MIN_NAME_COLUMNS = 20;
const CLEAR_BELOW = '\x1b[J';
/** With wrapping as it is and a visible cursor, there is nothing to restore when the program is stopped or killed. */
const OPTIONS = { hideCursor: false, linewrap: true, gracefulExit: false, clearOnComplete: true, forceRedraw: true };

/** Returns functions that draw the line that `read` returns, whose texts are printable. */
export function createBar(stream: OutputStream, read: () => ProgressLine | undefined) {
  let bar: MultiBar | undefined;
  const format = (_: unknown, { maxWidth }: { readonly maxWidth: number }) => {
    const line = read();
    // A terminal may go on to the next line when the last column is written.
    return line ? fitted(line, maxWidth - 1) : '';
  };
  return {
    show() {
      if (bar) return;
      bar = new MultiBar({ ...OPTIONS, stream, format });
      // The cursor waits at the start of the line. If the terminal becomes narrower and wraps the line, the cursor stays
      // at its start, and the next frame clears what is behind it. The line comes first, because tmux keeps a copy of the
      // screen whenever all of it is cleared.
      bar.on('redraw-post', () => stream.write(`${CLEAR_BELOW}\r`));
      bar.create(1, 0);
      stream.write('\r');
    },
    /** Clears the line until `show`. */
    hide() {
      // stop() would drop the lines that log() keeps for the next frame.
      bar?.update();
      bar?.stop();
      bar = undefined;
    },
    /** Writes whole lines above the line of progress, at the latest with the next frame. */
    log(lines: string) {
      if (bar) bar.log(lines);
      else stream.write(lines);
    },
  };
}

/** Returns the line in so many columns: with a bar if there is room, otherwise with a shorter name and fewer facts. */
function fitted({ label, isName, share, facts }: ProgressLine, columns: number): string {
  const bar = share === undefined ? [] : [`[${'='.repeat(share * BAR_COLUMNS).padEnd(BAR_COLUMNS)}]`];
  const fewer = facts.map((_, dropped) => facts.slice(0, facts.length - dropped));
  const ends = [[...bar, ...facts], ...fewer].map((texts) => ['', ...texts].join('  '));
  const least = Math.min(displayWidth(label), isName ? MIN_NAME_COLUMNS : columns);
  const end = ends.find((text) => columns - displayWidth(text) >= least) ?? '';
  return clipped(label, Math.max(1, columns - displayWidth(end))) + end;
}
