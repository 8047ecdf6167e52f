// Everything that the program takes from outside: the command line, the environment, streams, clocks and signals. No
// other file except `bin` uses `process`, so a test can replace each part.
import { createReadStream, fstatSync, readFileSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { createAbortController, type Sleep, sleep } from './abort.ts';
import { FilingsError } from './errors.ts';
import { Secrets } from './secrets.ts';

/** A standard output stream. Only a terminal has `columns`. */
export type OutputStream = Writable & {
  readonly fd?: number;
  readonly isTTY?: boolean;
  readonly columns?: number;
};

export type InputStream = Readable & { readonly fd?: number; readonly isTTY?: boolean };

/** A file that is small enough to be read as a whole. */
export interface SmallFile {
  readonly bytes: Buffer;
  /** From the open descriptor, because the file at the path may have been replaced since. */
  readonly stats: Stats;
}

export interface World {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The working directory, absolute. Throws `local_io` if it was removed. */
  readonly cwd: string;
  readonly platform: string;
  /** The effective user. Undefined on Windows. */
  readonly uid: number | undefined;
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Returns the time in milliseconds since the epoch. */
  readonly now: () => number;
  /** Returns milliseconds on a clock that nobody can set, so that differences are real durations. */
  readonly monotonic: () => number;
  readonly sleep: Sleep;
  /** Returns a random number, uniform in [0, 1). */
  readonly random: () => number;
  /**
   * Aborts on the first SIGINT, SIGTERM, SIGHUP or (on Windows) Ctrl-Break, with a FilingsError `interrupted` as the
   * reason. In the world of a command it also aborts at the deadline.
   */
  readonly interrupt: AbortSignal;
  /**
   * Makes `interrupt` also abort after `ms` milliseconds. Only the first call of a run has an effect, and only in the
   * world that `withinDeadline` makes for a command.
   */
  readonly setDeadline: (ms: number | undefined) => void;
  readonly killProcessGroup: (leader: number) => void;
  /** Calls `hide` before Ctrl-Z stops the program, and `show` when it resumes. Returns an unsubscribe function. */
  readonly onSuspend: (hide: () => void, show: () => void) => () => void;
  /** All secrets read so far. They are redacted in diagnostics, and never in data. */
  readonly secrets: Secrets;
  /** The config files that were read, by path. Each is read only once, because it may be a pipe. */
  readonly configFiles: Map<string, Promise<SmallFile>>;
  /** The version of the package. Throws if package.json cannot be read. */
  readonly version: string;
  /** The absolute path of the program's package, which has the samples and the completions. */
  readonly root: string;
}

/** The signals that end a run, with their numbers. SIGBREAK is Ctrl-Break on Windows. */
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15, SIGBREAK: 21 } as const;
type Signal = keyof typeof SIGNALS;
/** Signals in quicker succession are treated as one: `timeout` sends its signal to the program and to its group. */
const MIN_BETWEEN_SIGNALS_MS = 500;

/** Also for Ctrl-C at a prompt in raw mode, which reads it as input, so that there is no signal. */
export function interruptionError(name: Signal): FilingsError {
  return new FilingsError('interrupted', `interrupted: ${name}`, {
    signal: SIGNALS[name],
    stopsRun: true,
    isTimeUp: true,
  });
}

/** Returns a world with some parts replaced. A spread would call all getters, and so open every stream. */
export function deriveWorld(world: World, parts: Partial<World>): World {
  return Object.create(world, Object.getOwnPropertyDescriptors(parts));
}

/** Returns the real world, and installs the signal handlers: the first signal aborts, a second one exits. */
export function systemWorld(root: string): World {
  return {
    argv: process.argv.slice(2),
    env: process.env,
    get cwd() {
      return workingDirectory();
    },
    platform: process.platform,
    uid: process.geteuid?.(),
    // The streams are getters, because opening one loads modules that `--version` does not need.
    get stdin() {
      // If stdin is a directory, process.stdin is an empty stream. Reading the descriptor fails with EISDIR instead.
      return fstatSync(0).isDirectory() ? createReadStream('', { fd: 0 }) : process.stdin;
    },
    get stdout() {
      return process.stdout;
    },
    get stderr() {
      return process.stderr;
    },
    now: Date.now,
    monotonic,
    sleep,
    random: Math.random,
    interrupt: installSignalHandlers(),
    setDeadline() {},
    killProcessGroup,
    onSuspend,
    secrets: new Secrets(),
    configFiles: new Map(),
    get version() {
      return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
    },
    root,
  };
}

function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new FilingsError('local_io', 'the working directory no longer exists', {
      hint: 'change to another directory',
      cause,
    });
  }
}

/** Not `performance.now()`, because Node loads `performance` only when it is used, which takes time at the start. */
function monotonic(): number {
  return process.uptime() * 1000;
}

function killProcessGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // All processes of the group have already ended.
  }
}

function onSuspend(hide: () => void, show: () => void): () => void {
  // Windows has neither of the signals below.
  if (process.platform === 'win32') return () => {};
  const stop = () => {
    hide();
    process.kill(process.pid, 'SIGSTOP');
  };
  process.on('SIGTSTP', stop).on('SIGCONT', show);
  return () => void process.off('SIGTSTP', stop).off('SIGCONT', show);
}

function installSignalHandlers(): AbortSignal {
  const controller = createAbortController();
  let firstAt: number | undefined;
  for (const name of Object.keys(SIGNALS) as Signal[]) {
    process.on(name, () => {
      firstAt ??= monotonic();
      if (monotonic() - firstAt > MIN_BETWEEN_SIGNALS_MS) process.exit(128 + SIGNALS[name]);
      controller.abort(interruptionError(name));
    });
  }
  return controller.signal;
}
