// The only place, with `bin`, that names `process`. Gives the program everything from outside, so that a test can
// replace each part.
import { createReadStream, fstatSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import { hostname, uptime } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { createAbortController, type Sleep, sleep } from './abort.ts';
import { errnoOf, FilingsError } from './errors.ts';
import { Secrets } from './secrets.ts';

/** A standard output stream. Only a terminal has `columns`. */
export type OutputStream = Writable & {
  readonly fd?: number;
  readonly isTTY?: boolean;
  readonly columns?: number;
};

/** Facts that only the operating system knows. They are returned unchanged: the callers interpret them. */
interface System {
  /** Returns the text of a file such as those of `/proc`. Throws the system error. */
  readonly read: (path: string) => string;
  /** Returns the target of a symbolic link. Throws the system error. */
  readonly readLink: (path: string) => string;
  /** Runs a program with `env` as its whole environment. Returns its stdout. Throws if the program fails. */
  readonly run: (file: string, args: readonly string[], env: Readonly<Record<string, string>>) => string;
  /** Returns the time since the system started, in milliseconds. */
  readonly uptime: () => number;
}

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
  readonly hostname: string;
  readonly pid: number;
  /** Returns whether a process with this PID exists in this PID namespace. Unknown counts as true. */
  readonly isRunning: (pid: number) => boolean;
  readonly system: System;
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
  /** Runs `leave` on SIGTSTP, before the process stops, and `back` on SIGCONT. Returns an unsubscribe function. */
  readonly onSuspend: (leave: () => void, back: () => void) => () => void;
  /** All secrets read so far. Diagnostics are redacted with it, data never is. */
  readonly secrets: Secrets;
  /** The config files of this run, or the errors of reading them, by path. A pipe can be read only once. */
  readonly configFiles: Map<string, SmallFile | FilingsError>;
  /** The version of the package. Throws if package.json cannot be read. */
  readonly version: string;
  /** The folder of the program's package with its version, samples and completions, absolute. */
  readonly root: string;
}

/** The signals that end a run, by their numbers. */
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15, SIGBREAK: 21 } as const;
type Signal = keyof typeof SIGNALS;

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

/** Returns the real world and installs the signal handlers: the first signal aborts, a second signal exits at once. */
export function systemWorld(root: string): World {
  return {
    argv: process.argv.slice(2),
    env: process.env,
    get cwd() {
      return workingDirectory();
    },
    platform: process.platform,
    hostname: hostname(),
    pid: process.pid,
    isRunning,
    system: SYSTEM,
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
    onSuspend,
    secrets: new Secrets(),
    configFiles: new Map(),
    get version() {
      return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
    },
    root,
  };
}

/** The operating system of this process. */
export const SYSTEM: System = {
  read: (path) => readFileSync(path, 'utf8'),
  readLink: readlinkSync,
  // The module is loaded only on systems that need it.
  run: (file, args, env) =>
    process.getBuiltinModule('node:child_process').execFileSync(file, [...args], { encoding: 'utf8', env }),
  uptime: () => uptime() * 1000,
};

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errnoOf(error) !== 'ESRCH';
  }
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

function installSignalHandlers(): AbortSignal {
  const controller = createAbortController();
  for (const name of Object.keys(SIGNALS) as Signal[]) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(128 + SIGNALS[name]);
      controller.abort(interruptionError(name));
    });
  }
  return controller.signal;
}

function onSuspend(leave: () => void, back: () => void): () => void {
  const stop = () => {
    leave();
    process.kill(process.pid, 'SIGSTOP');
  };
  process.on('SIGTSTP', stop);
  process.on('SIGCONT', back);
  return () => {
    process.off('SIGTSTP', stop);
    process.off('SIGCONT', back);
  };
}
