// Everything that the program takes from outside: the command line, the environment, streams, clocks and signals. No
// other file except bin/filings.js uses `process`, so a test can run the program in its own `World`.
import { createReadStream, fstatSync, readFileSync } from 'node:fs';
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

export type InputStream = Readable & { readonly fd?: number; readonly isTTY?: boolean };

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
   * reason. In the world of a command (session/deadline.ts) it also aborts at --deadline.
   */
  readonly interrupt: AbortSignal;
  /** Makes `interrupt` also abort after `ms` milliseconds (session/deadline.ts). Only the first call has an effect. */
  readonly setDeadline: (ms: number | undefined) => void;
  /** Kills a child process and all processes that it has started. Expects it to be the leader of its own group. */
  readonly killProcessGroup: (leader: number) => void;
  /** All secrets read so far. They are redacted in diagnostics, and never in data. */
  readonly secrets: Secrets;
  /** The hints that were printed as text. Each is printed once. */
  readonly printedHints: Set<string>;
  readonly version: string;
  /** The absolute path of the program's package, which has the samples and the completions. */
  readonly root: string;
}

/** The exit status is 128 plus the number. SIGBREAK is Ctrl-Break on Windows. */
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15, SIGBREAK: 21 } as const;
type SignalName = keyof typeof SIGNALS;
/** `timeout` sends its signal to the program and then to its group, so it arrives twice. Both are treated as one. */
const MIN_BETWEEN_SIGNALS_MS = 500;

/** The prompt for a secret calls this, too: in raw mode, Ctrl-C is input and no signal. */
export function interruptionError(name: SignalName): FilingsError {
  return new FilingsError('interrupted', `interrupted: ${name}`, {
    signal: SIGNALS[name],
    stopsRun: true,
    isInterruption: true,
  });
}

/** A spread would call all getters and open every stream. */
export function deriveWorld(world: World, parts: Partial<World>): World {
  return Object.create(world, Object.getOwnPropertyDescriptors(parts));
}

/** Returns the real world, and installs the signal handlers: the first signal aborts `interrupt`, a later one exits. */
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
    secrets: new Secrets(),
    printedHints: new Set(),
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
    const code = errnoOf(cause);
    const reason = code === 'ENOENT' ? 'no longer exists' : `cannot be used: its path may be too long (${code})`;
    throw new FilingsError('local_io', `the working directory ${reason}`, {
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
    // Usually all processes of the group have already ended. Otherwise nothing more can be done.
  }
}

function installSignalHandlers(): AbortSignal {
  const controller = createAbortController();
  let firstAt: number | undefined;
  for (const name of Object.keys(SIGNALS) as SignalName[]) {
    process.on(name, () => {
      firstAt ??= monotonic();
      if (monotonic() - firstAt > MIN_BETWEEN_SIGNALS_MS) process.exit(128 + SIGNALS[name]);
      controller.abort(interruptionError(name));
    });
  }
  return controller.signal;
}
