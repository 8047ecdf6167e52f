// Runs the built program as a process of its own, with a clean environment, a home and a working directory.
import { type SpawnOptionsWithoutStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa, type Options } from 'execa';
import { onTestFinished, TestRunner, test as vitestTest } from 'vitest';
import { emptyPlace, type Place } from '../program/place.ts';
import { proving } from '../proving.ts';

export { ACCESSION, serviceAt } from '../program/place.ts';
export { proving } from '../proving.ts';

export const BIN = join(import.meta.dirname, '../../bin/filings.js');
/** How long a test waits for a state, on a machine that is busy. */
const LIMIT_MS = proving ? 500_000 : 60_000;
/** The Node that runs the program. scripts/prove-nodes.js sets other versions. */
export const NODE = process.env.FILINGS_NODE ?? process.execPath;

export interface Ended {
  /** The exit status, or -1 if a signal ended the process. */
  readonly exitCode: number;
  /** The signal whose default action ended the process. A process that handles a signal exits with a status. */
  readonly killedBy: string | undefined;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface Workplace extends Place {
  /** Runs the built program here. Its environment has only `env`, PATH and HOME. */
  filings(args: readonly string[], env?: Record<string, string>, options?: Options): Promise<Ended>;
  /** Runs bash here. `$FILINGS` is the program. Without `exec`, bash reports a signal as 128 plus its number. */
  shell(script: string, env?: Record<string, string>, options?: Options): Promise<Ended>;
  /**
   * Starts the program here and leaves it running. Its stdin is empty. `within` is a command line that runs another
   * one.
   */
  start(args: readonly string[], env?: Record<string, string>, within?: readonly string[]): Running;
  /** Writes scripts that Node loads before the program. Returns the environment for that. */
  hook(...scripts: string[]): Promise<Record<string, string>>;
  /** Moves the clock of {@link HELD_CLOCK}. */
  pass(ms: number): Promise<void>;
  /** Moves that clock again and again until the program has ended. */
  passUntilEnd(running: Running): Promise<Ended>;
  /** The names of the unfinished downloads. */
  parts(): Promise<string[]>;
  /** Waits until `running` has unfinished downloads of this size, and only so many. */
  haveParts(running: Running, size: number, count?: number): Promise<void>;
}

export interface Running {
  readonly pid: number;
  readonly stdin: Writable;
  /** Its output on stdout so far. */
  stdout(): string;
  /** Its output on stderr so far. */
  stderr(): string;
  kill(signal: NodeJS.Signals): void;
  /** Waits until stderr has a text so many times. */
  says(text: string, times?: number): Promise<void>;
  readonly ended: Promise<Ended>;
}

/** Kills a process that still runs at the end of the test, which may have timed out. A hook runs outside a test. */
function endWithTest(child: { kill(signal: 'SIGKILL'): boolean }): void {
  if (TestRunner.getCurrentTest() !== undefined) onTestFinished(() => void child.kill('SIGKILL'));
}

/** Runs a program to its end. Its environment has only the variables of `options`. */
export async function run(file: string, args: readonly string[], options: Options): Promise<Ended> {
  const child = execa(file, [...args], {
    extendEnv: false,
    reject: false,
    encoding: 'buffer',
    stripFinalNewline: false,
    timeout: 150_000,
    ...(options.stdin === undefined && options.input === undefined ? { input: '' } : {}),
    ...options,
  });
  endWithTest(child);
  const ended = await child;
  const bytes = (stream: unknown) => Buffer.from((stream as Uint8Array | undefined) ?? []);
  return {
    exitCode: ended.exitCode ?? -1,
    killedBy: ended.signal,
    stdout: bytes(ended.stdout),
    stderr: bytes(ended.stderr).toString(),
  };
}

/** Runs the built program in the system's temporary directory, with an empty environment. Returns stdout as text. */
export async function filings(args: readonly string[], options: Options = {}) {
  const ended = await run(NODE, [BIN, ...args], { env: {}, cwd: tmpdir(), ...options });
  return { ...ended, stdout: ended.stdout.toString() };
}

export async function workplace(): Promise<Workplace> {
  const place = await emptyPlace();
  const { home, path } = place;
  const usual = { PATH: process.env.PATH ?? '', HOME: home };
  const environment = (env: Record<string, string> = {}) => ({ ...usual, ...env });
  const here = (env?: Record<string, string>, options?: Options) => ({
    cwd: path,
    env: environment(env),
    ...options,
  });
  const parts = async () => (await place.names()).filter((name) => /^\..*\.filings-(part|resume)$/.test(name));
  const pass = (ms: number) => appendFile(place.at('../clock'), '.'.repeat(ms / 100));
  return {
    ...place,
    filings: (args, env, options) => run(NODE, [BIN, ...args], here(env, options)),
    // Words end at line feeds alone, since a path may have spaces in it.
    shell: (script, env, options) =>
      run('bash', ['-c', `IFS=$'\\n'\n${script}`], here({ FILINGS: `${NODE}\n${BIN}`, ...env }, options)),
    start(args, env, within = []) {
      const running = started([...within, NODE, BIN, ...args], { cwd: path, env: environment(env) });
      running.stdin.end();
      return running;
    },
    async hook(...scripts) {
      const hook = await place.write('../hook.cjs', scripts.map((script) => `{${script}}\n`).join(''));
      return { NODE_OPTIONS: `--require "${hook}"` };
    },
    pass,
    async passUntilEnd({ ended }) {
      const passing = setInterval(pass, 20, 500);
      return ended.finally(() => clearInterval(passing));
    },
    parts,
    async haveParts({ stderr }, size, count = 1) {
      const sizeOf = (name: string) =>
        stat(place.at(name)).then(
          (stats) => stats.size,
          () => -1,
        );
      await until(async () => {
        const sizes = await Promise.all((await parts()).map(sizeOf));
        return sizes.length === count && sizes.every((each) => each === size);
      }, stderr);
    },
  };
}

/** `test` with a workplace. */
export const test = vitestTest.extend('place', workplace);

/** Starts a command line and leaves it running until the end of the test. Its stdin is open. */
export function started([file = '', ...args]: readonly string[], options: SpawnOptionsWithoutStdio): Running {
  const child = spawn(file, args, options);
  endWithTest(child);
  const stdout: Buffer[] = [];
  let stderr = '';
  child.stdout.on('data', (chunk) => stdout.push(chunk));
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = once(child, 'close').then(([code, signal]) => ({
    exitCode: (code as number | null) ?? -1,
    killedBy: (signal as string | null) ?? undefined,
    stdout: Buffer.concat(stdout),
    stderr,
  }));
  return {
    pid: child.pid ?? 0,
    stdin: child.stdin,
    stdout: () => Buffer.concat(stdout).toString(),
    stderr: () => stderr,
    kill: (signal) => void child.kill(signal),
    says: (text, times = 1) =>
      until(
        () => stderr.split(text).length > times,
        () => stderr,
      ),
    ended,
  };
}

/** Starts `filings serve` as a process until the end of the test. Throws if the process ends by itself. */
export async function serve(args: readonly string[] = [], env: Record<string, string> = {}) {
  const options = { env: { PATH: process.env.PATH, HOME: tmpdir(), ...env } };
  const { ended, stdout, stderr, kill } = started([NODE, BIN, 'serve', ...args, '--port', '0'], options);
  const over = ended.then(({ exitCode }) => Promise.reject(new Error(`serve ended with ${exitCode}: ${stderr()}`)));
  over.catch(() => {});
  await Promise.race([over, until(() => stdout().includes('\n'))]);
  return { url: stdout().trimEnd(), log: stderr, kill, ended };
}

/** Waits until `holds` returns true. After a minute it fails with what `seen` returns. */
export async function until(holds: () => boolean | Promise<boolean>, seen = () => ''): Promise<void> {
  for (const start = performance.now(); !(await holds()); await sleep(10)) {
    if (performance.now() - start > LIMIT_MS) throw new Error(`this did not happen: ${holds}\n${seen()}`);
  }
}

/** A hook that prints a line when the program gets SIGTERM. */
export const TELLS_SIGTERM = `process.on('SIGTERM', () => process.stderr.write('SIGTERM arrives\\n'));`;

/**
 * A hook that stops the program's clock, and its waits of at least half a second. They go on by `pass` and `passUntilEnd`
 * of the workplace, which write a byte for 100 ms.
 */
export const HELD_CLOCK = `const { statSync } = require('node:fs');
const timers = require('node:timers/promises');
const { setTimeout: sleep } = timers;
const now = () => 100 * (statSync('../clock', { throwIfNoEntry: false })?.size ?? 0);
process.uptime = () => now() / 1000;
timers.setTimeout = (ms, value, options) => ms < 500 ? sleep(ms, value, options) : new Promise((resolve) => {
  const due = now() + ms;
  const waiting = setInterval(() => {
    if (!options.signal.aborted && now() < due) return;
    clearInterval(waiting);
    resolve();
  }, 5);
});`;
