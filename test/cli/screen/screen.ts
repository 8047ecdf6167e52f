import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { onTestFinished } from 'vitest';
import { BIN, NODE, until, workplace } from '../program.ts';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** A terminal with the program in it: what a person sees, and can press. */
export interface Screen {
  readonly pid: number;
  /** Where the program runs. */
  readonly path: string;
  /** All lines that there are, those that have scrolled away too, without blanks at their ends and empty ones below. */
  lines(): string[];
  /** Waits until the lines are as wanted; gives them. */
  shows(wanted: (lines: readonly string[]) => boolean): Promise<string[]>;
  type(keys: string): void;
  resize(size: Size): void;
  /** Where the cursor is; columns from 0. */
  cursor(): number;
  /** All that the program has written, as it came. */
  bytes(): string;
  /** For whoever looks at more than text. */
  readonly terminal: xterm.Terminal;
  /** Resolves with the exit status once all that was written is on the screen. */
  readonly ended: Promise<number>;
}

interface Started {
  readonly env?: Record<string, string>;
  readonly size?: Size;
  /** Run by bash in the place of the program, whose command line is `$FILINGS`. */
  readonly script?: string;
  /** Puts files where the program will run. */
  readonly prepare?: (path: string) => Promise<void>;
}

export const CTRL_C = '\x03';
export const CTRL_D = '\x04';

/** Starts the built program on a terminal of its own, stdin, stdout and stderr alike, until the test has ended. */
export async function screen(
  args: readonly string[],
  { env = {}, size, script, prepare }: Started = {},
): Promise<Screen> {
  const { columns, rows } = size ?? { columns: 80, rows: 24 };
  const { path, home } = await workplace();
  await prepare?.(path);
  const shown = new xterm.Terminal({ cols: columns, rows, scrollback: 5000, allowProposedApi: true });
  const [file = '', ...rest] = script === undefined ? [NODE, BIN, ...args] : ['bash', '-c', `IFS=$'\\n'\n${script}`];
  const child = spawn(file, rest, {
    name: 'xterm-256color',
    cols: columns,
    rows,
    cwd: path,
    env: { PATH: process.env.PATH, HOME: home, FILINGS: `${NODE}\n${BIN}`, ...env },
  });
  let bytes = '';
  let drawn = Promise.resolve();
  child.onData((data) => {
    bytes += data;
    drawn = new Promise((resolve) => shown.write(data, resolve));
  });
  const ended = new Promise<number>((resolve) => {
    child.onExit(({ exitCode }) => drawn.then(() => resolve(exitCode)));
  });
  let over = false;
  ended.then(() => {
    over = true;
  });
  onTestFinished(async () => {
    if (!over) child.kill('SIGKILL');
    await ended;
    shown.dispose();
  });
  const lines = () => linesOf(shown);
  return {
    pid: child.pid,
    path,
    lines,
    async shows(wanted) {
      await until(() => {
        if (wanted(lines())) return true;
        if (over) throw new Error(`it has ended, and the screen shows\n${lines().join('\n')}`);
        return false;
      });
      return lines();
    },
    type: (keys) => child.write(keys),
    resize(to) {
      shown.resize(to.columns, to.rows);
      child.resize(to.columns, to.rows);
    },
    cursor: () => shown.buffer.active.cursorX,
    bytes: () => bytes,
    terminal: shown,
    ended,
  };
}

function linesOf({ buffer }: xterm.Terminal): string[] {
  const lines = Array.from({ length: buffer.active.length }, (_, row) => {
    return buffer.active.getLine(row)?.translateToString(true).trimEnd() ?? '';
  });
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
}
