import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import type { TlsOptions } from 'node:tls';
import { onTestFinished } from 'vitest';
import { type Sleep, sleep } from '../../src/abort.ts';
import { MAX_COUNTING_MS } from '../../src/batch/batch.ts';
import { FilingsError } from '../../src/errors.ts';
import { main } from '../../src/main.ts';
import { type Script, scripted } from '../servers/scripted.ts';
import { worldOf } from '../settings-world.ts';
import { emptyPlace, serviceAt } from './place.ts';

export { ACCESSION, serviceAt } from './place.ts';

type Environment = Readonly<Record<string, string>>;

/** How a run of the program came out. */
export interface Ended {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface Given {
  readonly env?: Environment;
  readonly cwd?: string;
  /** stdout is a terminal of so many columns; 0: it does not tell. */
  readonly columns?: number;
  /** What stdin holds. */
  readonly input?: string | Uint8Array;
  /** What a person's Ctrl-C is to a process. */
  readonly interrupt?: AbortSignal;
  /** How far this machine's clock is ahead, in milliseconds. */
  readonly ahead?: number | (() => number);
  readonly sleep?: Sleep;
  readonly monotonic?: () => number;
}

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
// Each run is a process to the others: numbered beyond all real ones, and there until it has ended.
const running = new Set<number>();
let lastPid = 2 ** 22;

/**
 * Runs the whole program inside this process: a command line and a world to an exit status, as `bin` does. Sockets,
 * files and children are real; the standard streams are memory, and the environment holds what is given alone.
 */
async function run(args: readonly string[], given: Given = {}): Promise<Ended> {
  const [stdout, stderr] = [memory(), memory()];
  if (given.columns !== undefined) Object.assign(stdout.stream, { isTTY: true, columns: given.columns });
  const exitCode = await runInto({ stdout: stdout.stream, stderr: stderr.stream }, args, given);
  return { exitCode, stdout: stdout.bytes(), stderr: stderr.bytes().toString() };
}

/** As {@link run}, without a place of its own; its stdout as text. */
export async function filings(args: readonly string[], given: Given = {}) {
  const ended = await run(args, given);
  return { ...ended, stdout: ended.stdout.toString() };
}

/** A place in which the program runs, with nothing in its environment but what is given, PATH and HOME. */
export async function workplace() {
  const place = await emptyPlace();
  const filings = (args: readonly string[], env?: Environment, given?: Omit<Given, 'env'>) =>
    run(args, { cwd: place.path, ...given, env: { ...homeOf(place.home), ...env } });
  return { ...place, filings };
}

export type Workplace = Awaited<ReturnType<typeof workplace>>;

/** A workplace beside a service that answers by a script and that its commands ask, with a key. */
export async function asking(script: Script, tls?: TlsOptions) {
  const [server, place] = [await scripted(script, tls), await workplace()];
  const service = serviceAt(server.url);
  const filings: Workplace['filings'] = (args, env, given) => place.filings(args, { ...service, ...env }, given);
  return { ...server, ...place, filings };
}

export const linesOf = (text: Buffer | string) => text.toString().trimEnd().split('\n');
export const jsonOf = (text: Buffer | string) => linesOf(text).map((line) => JSON.parse(line));

/** Runs `filings serve` in this process, until the test has ended. */
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
    const given = { env: { ...homeOf(tmpdir()), ...env }, interrupt: stop.signal };
    const status = runInto(streams, ['serve', ...args, '--port', '0'], given);
    status.then((ended) => reject(new Error(`serve ended with ${ended}: ${stderr.bytes()}`)));
  });
  const end = async () => {
    stop.abort(new FilingsError('interrupted', 'the test has ended', { signal: 15, stopsRun: true }));
    await done;
  };
  onTestFinished(end);
  return { url, log: () => stderr.bytes().toString(), stop: end };
}

/** Sleeps as the program does, but lets it count what it has not started for as long as a busy machine takes. */
export const patientSleep: Sleep = (ms, signal) => sleep(ms === MAX_COUNTING_MS ? 100_000 : ms, signal);

const homeOf = (home: string) => ({ PATH: process.env.PATH ?? '', HOME: home });

async function runInto(
  streams: { readonly stdout: Writable; readonly stderr: Writable },
  args: readonly string[],
  { env = {}, cwd = tmpdir(), input = '', ahead = 0, columns: _, ...given }: Given,
): Promise<number> {
  lastPid += 1;
  const pid = lastPid;
  running.add(pid);
  const stdin = Readable.from(input.length > 0 ? [Buffer.from(input)] : []);
  const now = () => Date.now() + (typeof ahead === 'number' ? ahead : ahead());
  const clock = { now, sleep: patientSleep };
  const own = { pid, isRunning: (other: number) => running.has(other), version, argv: args, env, cwd, stdin };
  const status = await main(worldOf({ ...clock, ...given, ...streams, ...own }));
  running.delete(pid);
  return status;
}

/** A stream whose bytes are kept. */
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
