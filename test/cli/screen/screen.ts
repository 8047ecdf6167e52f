import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { onTestFinished } from 'vitest';
import { BIN, NODE, until, workplace } from '../program.ts';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** A terminal with the program: its screen and its keyboard. */
export interface Screen {
  readonly pid: number;
  /** The working directory of the program. */
  readonly path: string;
  /** All lines, including those that scrolled away, without trailing blanks and without empty lines at the end. */
  lines(): string[];
  /** Waits until `wanted` accepts the lines. Returns them. */
  shows(wanted: (lines: readonly string[]) => boolean): Promise<string[]>;
  type(keys: string): void;
  resize(size: Size): void;
  /** Column of the cursor, from 0. */
  cursor(): number;
  /** All output of the program, unchanged. */
  bytes(): string;
  /** The terminal itself, for checks of more than text. */
  readonly terminal: xterm.Terminal;
  /** Resolves with the exit status when all output is on the screen. */
  readonly ended: Promise<number>;
}

interface Started {
  readonly env?: Record<string, string>;
  readonly size?: Size;
  /** A bash script that runs instead of the program. `$FILINGS` is the command line of the program. */
  readonly script?: string;
  /** Creates files in the working directory before the start. */
  readonly prepare?: (path: string) => Promise<void>;
}

export const CTRL_C = '\x03';
export const CTRL_D = '\x04';

/** Starts the built program on a terminal that is its stdin, stdout and stderr, until the end of the test. */
export async function screen(
  args: readonly string[],
  { env = {}, size, script, prepare }: Started = {},
): Promise<Screen> {
  const { columns, rows } = size ?? { columns: 80, rows: 24 };
  const { path, home } = await workplace();
  await prepare?.(path);
  const display = new xterm.Terminal({ cols: columns, rows, scrollback: 5000, allowProposedApi: true });
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
    drawn = new Promise((resolve) => display.write(data, resolve));
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
    display.dispose();
  });
  const lines = () => linesOf(display);
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
      display.resize(to.columns, to.rows);
      child.resize(to.columns, to.rows);
    },
    cursor: () => display.buffer.active.cursorX,
    bytes: () => bytes,
    terminal: display,
    ended,
  };
}

function linesOf({ buffer }: xterm.Terminal): string[] {
  const lines = Array.from({ length: buffer.active.length }, (_, row) => {
    return buffer.active.getLine(row)?.translateToString(true).trimEnd() ?? '';
  });
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
}
