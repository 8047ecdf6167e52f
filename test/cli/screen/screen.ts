import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { onTestFinished } from 'vitest';
import { BIN, NODE, until, workplace } from '../program.ts';

export interface Size {
  readonly columns: number;
  readonly rows: number;
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
export async function screen(args: readonly string[], { env = {}, size, script, prepare }: Started = {}) {
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
  let drawnLength = 0;
  child.onData((data) => {
    bytes += data;
    drawn = new Promise((resolve) => display.write(data, resolve));
    drawn.then(() => {
      drawnLength += data.length;
    });
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
    /** The working directory of the program. */
    path,
    /** All lines, including those that scrolled away, without trailing blanks and without empty lines at the end. */
    lines,
    /** Waits until `wanted` matches a line, or accepts all lines. Returns them. */
    async shows(wanted: RegExp | ((lines: readonly string[]) => boolean)) {
      const isShown = () => (wanted instanceof RegExp ? lines().some((line) => wanted.test(line)) : wanted(lines()));
      const seen = () => `the program ${over ? 'has ended' : 'runs'}, and the screen shows\n${lines().join('\n')}`;
      await until(() => over || isShown(), seen);
      if (!isShown()) throw new Error(`${wanted} is not shown: ${seen()}`);
      return lines();
    },
    type: (keys: string) => child.write(keys),
    /** Resizes just after a frame with a line at whose start the cursor waits. One on its way would be wrapped. */
    async resize(to: Size) {
      const before = drawnLength;
      await until(() => drawnLength > before && drawnLength === bytes.length && display.buffer.active.cursorX === 0);
      display.resize(to.columns, to.rows);
      child.resize(to.columns, to.rows);
    },
    /** Column of the cursor, from 0. */
    cursor: () => display.buffer.active.cursorX,
    /** All output of the program, unchanged. */
    bytes: () => bytes,
    /** The terminal itself, for checks of more than text. */
    terminal: display,
    /** Resolves with the exit status when all output is on the screen. */
    ended,
  };
}

function linesOf({ buffer }: xterm.Terminal): string[] {
  const lines = Array.from({ length: buffer.active.length }, (_, row) => {
    return buffer.active.getLine(row)?.translateToString(true).trimEnd() ?? '';
  });
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
}
