import { createReadStream, fstatSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import { hostname, uptime } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { createAbortController, type Sleep, sleep } from './abort.ts';
import { errnoOf, FilingsError } from './errors.ts';
import { Secrets } from './secrets.ts';

/** A standard output stream; `columns` is there on a terminal only. */
export type OutputStream = Writable & {
  readonly fd?: number;
  readonly isTTY?: boolean;
  readonly columns?: number;
};
/** What only the system knows, of processes and of itself. Decisions about it are made where it is needed. */
export interface System {
  /** Returns the text of a file such as those of `/proc`. Throws the system error. */
  readonly read: (path: string) => string;
  /** Returns where a link leads. Throws the system error. */
  readonly readLink: (path: string) => string;
  /** Returns what a program of the system prints, run with nothing in its environment but `env`. Throws if it fails. */
  readonly run: (file: string, args: readonly string[], env: Readonly<Record<string, string>>) => string;
  /** Returns the time since the system was started, in milliseconds. */
  readonly uptime: () => number;
}

export type InputStream = Readable & { readonly fd?: number; readonly isTTY?: boolean };

/** A file that was read whole. The stats are of the open file. */
export interface SmallFile {
  readonly bytes: Buffer;
  readonly stats: Stats;
}

/**
 * Everything the program takes from outside, passed explicitly. Only `bin` and
 * `systemWorld()` name `process`.
 */
export interface World {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. Throws `local_io` when it was removed. */
  readonly cwd: string;
  readonly platform: string;
  readonly hostname: string;
  readonly pid: number;
  /** Whether a process of that number is there, in this one's process namespace; true when that can't be told. */
  readonly isRunning: (pid: number) => boolean;
  readonly system: System;
  /** The effective user, where the platform has one. */
  readonly uid: number | undefined;
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds of a clock that never steps. */
  readonly monotonic: () => number;
  readonly sleep: Sleep;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /**
   * Aborted by the first SIGINT, SIGTERM, SIGHUP or (on Windows) Ctrl-Break, whose reason is a FilingsError `interrupted`,
   * and for a command also by its deadline.
   */
  readonly interrupt: AbortSignal;
  /**
   * Makes `interrupt` abort after so many milliseconds, too. The first deadline of a run counts. Only the world that a
   * command gets has one.
   */
  readonly setDeadline: (ms: number | undefined) => void;
  /** Calls `leave` before Ctrl-Z stops this process, and `back` when it continues; gives what calls that off. */
  readonly onSuspend: (leave: () => void, back: () => void) => () => void;
  /** Filled by whoever reads a secret; what is said to a person or a log passes through its `redact`, data does not. */
  readonly secrets: Secrets;
  /** What this run has read of config files, by path, or why it cannot: a pipe can be read only once. */
  readonly configFiles: Map<string, SmallFile | FilingsError>;
  /** Of the package. Throws where that can't be read. */
  readonly version: string;
  /** The folder of the program's own package, absolute: its version, samples and completions are there. */
  readonly root: string;
}

const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15, SIGBREAK: 21 } as const;
type Signal = keyof typeof SIGNALS;

/** How a run ends that a signal ended: the system's, or a Ctrl-C that went to a program or a prompt of ours. */
export function interruptedBy(name: Signal): FilingsError {
  return new FilingsError('interrupted', `interrupted: ${name}`, {
    signal: SIGNALS[name],
    stopsRun: true,
    isTimeUp: true,
  });
}

/** A world that differs in some parts. */
export function derived(world: World, parts: Partial<World>): World {
  return Object.create(world, Object.getOwnPropertyDescriptors(parts));
}

/** The real world. Installs the signal handlers: the first signal aborts, a second one quits at once. */
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
    // Getters: opening a stream loads modules that `--version` has no use for.
    get stdin() {
      // Node takes a directory for an empty stdin; read, it is an error.
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
    ...interruptions(),
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

/** What this system says. */
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

/** Node loads `performance` when it is first named, and has this already. Milliseconds. */
function monotonic(): number {
  return process.uptime() * 1000;
}

function interruptions(): Pick<World, 'interrupt'> {
  const controller = createAbortController();
  for (const name of Object.keys(SIGNALS) as Signal[]) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(128 + SIGNALS[name]);
      controller.abort(interruptedBy(name));
    });
  }
  return { interrupt: controller.signal };
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
