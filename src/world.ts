// The only place, with `bin`, that names `process`. Gives the program everything from outside, so that a test can
// replace each part.
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

/** A complete file. The stats are of the open file. */
export interface SmallFile {
  readonly bytes: Buffer;
  readonly stats: Stats;
}

/** Everything that the program takes from outside. It is passed explicitly. */
export interface World {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The working directory, absolute. Throws `local_io` if it was removed. */
  readonly cwd: string;
  readonly platform: string;
  /** The effective user, if the platform has one. */
  readonly uid: number | undefined;
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Returns the time in milliseconds since the epoch. */
  readonly now: () => number;
  /** Returns the milliseconds of a clock that is never set. */
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
   * Makes `interrupt` also abort after `ms` milliseconds. Only the first deadline of a run counts. Has no effect
   * outside the world of a command.
   */
  readonly setDeadline: (ms: number | undefined) => void;
  /** Ends all processes of a group at once. */
  readonly endGroup: (leader: number) => void;
  /** Calls `hide` before Ctrl-Z stops the program, and `show` when it goes on. Returns an unsubscribe function. */
  readonly onSuspend: (hide: () => void, show: () => void) => () => void;
  /** All secrets read so far. Diagnostics are redacted with it, data never is. */
  readonly secrets: Secrets;
  /** The config files of this run by path. A pipe can be read only once. */
  readonly configFiles: Map<string, Promise<SmallFile>>;
  /** The version of the package. Throws if package.json cannot be read. */
  readonly version: string;
  /** The folder of the program's package with its version, samples and completions, absolute. */
  readonly root: string;
}

/** The signals that end a run, by their numbers. */
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15, SIGBREAK: 21 } as const;
type Signal = keyof typeof SIGNALS;
const MIN_BETWEEN_SIGNALS_MS = 500;

/** Returns the error of a run that a signal ends. The signal may also be a Ctrl-C that a prompt has read. */
export function interruptionError(name: Signal): FilingsError {
  return new FilingsError('interrupted', `interrupted: ${name}`, {
    signal: SIGNALS[name],
    stopsRun: true,
    isTimeUp: true,
  });
}

/** Returns a copy of a world with some parts replaced. Getters stay getters. */
export function deriveWorld(world: World, parts: Partial<World>): World {
  return Object.create(world, Object.getOwnPropertyDescriptors(parts));
}

/** Returns the real world and installs the signal handlers: the first signal aborts, a second one exits at once. */
export function systemWorld(root: string): World {
  return {
    argv: process.argv.slice(2),
    env: process.env,
    get cwd() {
      return workingDirectory();
    },
    platform: process.platform,
    uid: process.geteuid?.(),
    // Getters, because opening a stream loads modules that `--version` does not need.
    get stdin() {
      // Node treats a directory as an empty stdin. Reading the descriptor reports the error.
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
    endGroup,
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

/** Returns milliseconds. Uses the uptime, which Node has loaded already, instead of `performance`, which it has not. */
function monotonic(): number {
  return process.uptime() * 1000;
}

function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // All of them have ended.
  }
}

function onSuspend(hide: () => void, show: () => void): () => void {
  // Windows has no such signals.
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
  let firstAt = Number.POSITIVE_INFINITY;
  for (const name of Object.keys(SIGNALS) as Signal[]) {
    process.on(name, () => {
      // `timeout` sends two signals at once.
      if (monotonic() - firstAt > MIN_BETWEEN_SIGNALS_MS) process.exit(128 + SIGNALS[name]);
      firstAt = Math.min(firstAt, monotonic());
      controller.abort(interruptionError(name));
    });
  }
  return controller.signal;
}
