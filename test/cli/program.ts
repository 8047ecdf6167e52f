// Runs the built program as a process of its own, with a clean environment, a home and a working directory.
import { type SpawnOptionsWithoutStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { appendFile, chmod, cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa, type Options } from 'execa';
import { onTestFinished, TestRunner, test as vitestTest } from 'vitest';
import { emptyPlace } from '../program/place.ts';
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

export type Workplace = Awaited<ReturnType<typeof workplace>>;
export type Running = ReturnType<typeof started>;
type Environment = Record<string, string>;

/** A home and a working directory for the built program. Its environment has only the given variables, PATH and HOME. */
export async function workplace() {
  const place = await emptyPlace();
  const at = (env: Environment = {}) => ({
    cwd: place.path,
    env: { PATH: process.env.PATH ?? '', HOME: place.home, ...env },
  });
  const parts = async () => (await place.names()).filter((name) => /^\..*\.filings-(part|resume)$/.test(name));
  const pass = (ms: number) => appendFile(place.at('../clock'), '.'.repeat(ms / 100));
  return {
    ...place,
    filings: (args: readonly string[], env?: Environment, options?: Options) =>
      run(NODE, [BIN, ...args], { ...at(env), ...options }),
    /** Runs bash here. `$FILINGS` is the program. Without `exec`, bash reports a signal as 128 plus its number. */
    shell: (script: string, env?: Environment, options?: Options) =>
      // Words end at line feeds alone, since a path may have spaces in it.
      run('bash', ['-c', `IFS=$'\n'\n${script}`], { ...at({ FILINGS: `${NODE}\n${BIN}`, ...env }), ...options }),
    /** Starts the program and leaves it running, with an empty stdin. `within` is a command line that runs another one. */
    start(args: readonly string[], env?: Environment, within: readonly string[] = []) {
      const running = started([...within, NODE, BIN, ...args], at(env));
      running.stdin.end();
      return running;
    },
    /** Writes scripts that Node loads before the program. Returns the environment for that. */
    async hook(...scripts: string[]): Promise<Environment> {
      const hook = await place.write('../hook.cjs', scripts.map((script) => `{${script}}\n`).join(''));
      return { NODE_OPTIONS: `--require "${hook}"` };
    },
    /** Moves the clock of {@link HELD_CLOCK}. */
    pass,
    /** Moves that clock again and again until the program has ended. */
    async passUntilEnd({ ended }: Running) {
      const passing = setInterval(pass, 20, 500);
      return ended.finally(() => clearInterval(passing));
    },
    /** The names of the unfinished downloads. */
    parts,
    /** Waits until the program has so many unfinished downloads, all of this size. */
    async haveParts({ stderr }: Running, size: number, count = 1) {
      await until(async () => {
        const sizes = (await parts()).map((name) => statSync(place.at(name), { throwIfNoEntry: false })?.size);
        return sizes.length === count && sizes.every((each) => each === size);
      }, stderr);
    },
  };
}

/** Copies the program to a folder that other users can enter. Returns the value of `$FILINGS` for it. */
export async function copyForOthers({ home }: Workplace): Promise<string> {
  const copy = join(home, 'program');
  for (const part of ['bin', 'dist', 'package.json'])
    await cp(join(BIN, '../..', part), join(copy, part), { recursive: true });
  for (const folder of ['', 'bin', 'dist']) await chmod(join(copy, folder), 0o755);
  await chmod(home, 0o755);
  return `${NODE}\n${copy}/bin/filings.js`;
}

/** `test` with a workplace. */
export const test = vitestTest.extend('place', workplace);

/** Starts a command line and leaves it running until the end of the test. Its stdin is open. */
export function started([file = '', ...args]: readonly string[], options: SpawnOptionsWithoutStdio) {
  const child = spawn(file, args, options);
  endWithTest(child);
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk) => out.push(chunk));
  child.stderr.on('data', (chunk) => err.push(chunk));
  const [stdout, stderr] = [out, err].map((chunks) => () => Buffer.concat(chunks).toString()) as [Text, Text];
  const ended: Promise<Ended> = once(child, 'close').then(([code, signal]) => ({
    exitCode: code ?? -1,
    killedBy: signal ?? undefined,
    stdout: Buffer.concat(out),
    stderr: stderr(),
  }));
  return {
    stdin: child.stdin,
    /** Its output so far. */
    stdout,
    stderr,
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    /** Waits until stderr has a text so many times. */
    says: (text: string, times = 1) => until(() => stderr().split(text).length > times, stderr),
    ended,
  };
}

type Text = () => string;

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

/** A hook that prints a line after the program has handled SIGTERM. Its handler is called before the program's own. */
export const TELLS_SIGTERM = `process.on('SIGTERM', () => setImmediate(() => process.stderr.write('SIGTERM arrives\\n')));`;

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
