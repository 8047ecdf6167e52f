// Runs the program inside the test's process, so that a test can move its clock, its signals and its environment.
// Sockets, files and child processes are real.
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import type { TlsOptions } from 'node:tls';
import { onTestFinished, test as vitestTest } from 'vitest';
import type { Sleep } from '../../src/abort.ts';
import { FilingsError } from '../../src/errors.ts';
import { main } from '../../src/main.ts';
import { type Script, scripted } from '../servers/scripted.ts';
import { worldOf } from '../settings-world.ts';
import { emptyPlace, serviceAt } from './place.ts';

export { ACCESSION, serviceAt } from './place.ts';

type Environment = Readonly<Record<string, string>>;

export interface RunOptions {
  readonly env?: Environment;
  readonly cwd?: string;
  /** Columns of stdout if it is a terminal. With 0 the terminal does not report its width. */
  readonly columns?: number;
  /** Takes the place of the stream that keeps the bytes of stdout. */
  readonly stdout?: Writable;
  /** Content of stdin. */
  readonly input?: string | Uint8Array;
  /** Whether more may follow the input, which never happens. */
  readonly isInputOpen?: boolean;
  /** Aborts the run as a signal does. */
  readonly interrupt?: AbortSignal;
  /** Difference of the machine's clock to real time, in milliseconds. */
  readonly ahead?: number | (() => number);
  readonly sleep?: Sleep;
  readonly monotonic?: () => number;
}

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));

/**
 * Runs the program in this process, from a command line and a World to an exit status, as `bin` does. Sockets, files
 * and child processes are real. The standard streams are buffers, and the environment has only the given variables.
 */
async function run(args: readonly string[], runOptions: RunOptions = {}) {
  const [stdout, stderr] = [memory(), memory()];
  if (runOptions.columns !== undefined) Object.assign(stdout.stream, { isTTY: true, columns: runOptions.columns });
  const streams = { stdout: runOptions.stdout ?? stdout.stream, stderr: stderr.stream };
  const exitCode = await runInto(streams, args, runOptions);
  return { exitCode, stdout: stdout.bytes(), stderr: stderr.bytes().toString() };
}

/** Like {@link run}, in the system's temporary directory and with stdout as text. */
export async function filings(args: readonly string[], runOptions: RunOptions = {}) {
  const ended = await run(args, runOptions);
  return { ...ended, stdout: ended.stdout.toString() };
}

/** A home and a working directory for runs. Their environment has only the given variables, PATH and HOME. */
export async function workplace() {
  const place = await emptyPlace();
  const filings = (args: readonly string[], env?: Environment, runOptions?: Omit<RunOptions, 'env'>) =>
    run(args, { cwd: place.path, ...runOptions, env: { ...homeOf(place.home), ...env } });
  return { ...place, filings };
}

export type Workplace = Awaited<ReturnType<typeof workplace>>;

/** `test` with a workplace. */
export const test = vitestTest.extend('place', workplace);

/** A workplace with a scripted service. Its commands use this service and a key. */
export async function asking(script: Script, tls?: TlsOptions) {
  const [server, place] = [await scripted(script, tls), await workplace()];
  const service = serviceAt(server.url);
  const filings: Workplace['filings'] = (args, env, own) => place.filings(args, { ...service, ...env }, own);
  return { ...server, ...place, filings };
}

export const linesOf = (text: Buffer | string) => text.toString().trimEnd().split('\n');
export const jsonOf = (text: Buffer | string) => linesOf(text).map((line) => JSON.parse(line));

/** Runs `filings serve` in this process until the end of the test. */
export async function serve(args: readonly string[] = [], env: Environment = {}) {
  const stop = new AbortController();
  const stderr = memory();
  const { url, done } = await new Promise<{ url: string; done: Promise<number> }>((resolve, reject) => {
    const stdout = new Writable({
      write(line, _encoding, written) {
        resolve({ url: String(line).trim(), done: status });
        written();
      },
    });
    const streams = { stdout, stderr: stderr.stream };
    const runOptions = { env: { ...homeOf(tmpdir()), ...env }, interrupt: stop.signal };
    const status = runInto(streams, ['serve', ...args, '--port', '0'], runOptions);
    status.then((ended) => reject(new Error(`serve ended with ${ended}: ${stderr.bytes()}`)));
  });
  const end = async () => {
    stop.abort(new FilingsError('interrupted', 'the test has ended', { signal: 15, stopsRun: true }));
    await done;
  };
  onTestFinished(end);
  return { url, log: () => stderr.bytes().toString(), stop: end };
}

const homeOf = (home: string) => ({ PATH: process.env.PATH ?? '', HOME: home });

function runInto(
  streams: { readonly stdout: Writable; readonly stderr: Writable },
  args: readonly string[],
  { env = {}, cwd = tmpdir(), input = '', isInputOpen = false, ahead = 0, columns: _, ...runOptions }: RunOptions,
): Promise<number> {
  const stdin = new Readable({ read() {} });
  stdin.push(input);
  if (!isInputOpen) stdin.push(null);
  const now = () => Date.now() + (typeof ahead === 'number' ? ahead : ahead());
  return main(worldOf({ now, ...runOptions, ...streams, version, argv: args, env, cwd, stdin }));
}

/** A stream that keeps its bytes. */
function memory() {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  return { stream, bytes: () => Buffer.concat(chunks) };
}
