import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { FilingsError } from '../../../src/errors.ts';
import { main } from '../../../src/main.ts';
import { filesIn } from '../../../src/own-files.ts';
import { Secrets } from '../../../src/secrets/secrets.ts';
import type { World } from '../../../src/world.ts';
import { accessionOf, type Filed } from './archive.ts';
import type { Machine } from './machine.ts';
import type { Options, Plan, RunPlan } from './plan.ts';
import type { Process } from './process.ts';
import { current, type Scheduler } from './scheduler.ts';
import { EPOCH, HOME, KEY } from './service.ts';

const root = process.env.FILINGS_ROOT ?? '';
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const [uid, platform] = [process.geteuid?.(), process.platform];

/** How the program sees the schedule. */
export interface Setting {
  readonly plan: Plan;
  readonly scheduler: Scheduler;
  readonly chance: () => number;
  /** An empty directory. */
  readonly place: string;
  readonly running: ReadonlySet<number>;
  readonly machine: Machine;
}

/** The command line of a run whose books have a name of their own, but for the done list. */
export function argumentsOf(name: string, options: Options): string[] {
  const { jobs, retries, checksums, done, ratePerSecond, maxRequests, maxBytes, deadlineSeconds } = options;
  const flag = (flagName: string, value: string | number | undefined) =>
    value === undefined ? [] : [flagName, `${value}`];
  return [
    ...['download', '--input', '-', '--all', '--directory', 'out', '--report', `${name}.jsonl`],
    ...['--jobs', `${jobs}`, '--retries', `${retries}`, '--failed', `${name}.failed`],
    ...(checksums ? ['--checksums'] : []),
    ...(done ? ['--done', 'done'] : []),
    ...flag('--rate', ratePerSecond && `${ratePerSecond}/s`),
    ...flag('--max-requests', maxRequests),
    ...flag('--max-bytes', maxBytes),
    ...flag('--deadline', deadlineSeconds && `${deadlineSeconds}s`),
  ];
}

/** The command line of a run that writes one file to a pipe. */
export function pipingArguments({ accession, name }: Filed, { retries }: Options): string[] {
  return ['download', accession, name, '-o', '-', '--retries', `${retries}`];
}

/** The command line of a run that checks what others have downloaded. */
export function checkingArguments(does: RunPlan['does']): string[] {
  return ['verify', 'out', ...(does === 'prune' ? ['--prune'] : [])];
}

/** Runs the whole program as a process of the schedule; its exit code is the process's. */
export function start(runner: Process, args: readonly string[], setting: Setting): void {
  const world = worldOf(runner, args, setting);
  runner.onInterrupt = () =>
    runner.interrupt.abort(new FilingsError('interrupted', 'interrupted: SIGINT', { signal: 2, stopsRun: true }));
  void current.run(runner, () => main(world)).then((exitCode) => runner.end(exitCode));
}

function worldOf(
  runner: Process,
  argv: readonly string[],
  { plan, scheduler, chance, place, running, machine }: Setting,
): World {
  const { filings } = plan;
  const input = filings.map((_, at) => `${accessionOf(at)}\n`).join('');
  const told = (text: string) => scheduler.note(`${runner.name}: says ${text.trimEnd()}`);
  const stdout = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const taken = () => void runner.out.push(Buffer.from(chunk));
      void scheduler.do(() => `stdout takes ${chunk.length} bytes`, taken, runner).then(() => done());
    },
  });
  const stderr = new Writable({
    write(chunk, _encoding, done) {
      told(String(chunk));
      done();
    },
  });
  return {
    argv,
    env: { FILINGS_BASE_URL: `http://${HOME}`, FILINGS_API_KEY: KEY, HOME: place },
    cwd: place,
    platform,
    hostname: 'scheduled',
    pid: runner.pid,
    isRunning: (pid) => running.has(pid),
    uptime: () => machine.uptimeSeconds(),
    uid,
    stdin: Readable.from([Buffer.from(input)]),
    stdout,
    stderr,
    now: () => EPOCH + scheduler.now + scheduler.aheadMs,
    monotonic: () => scheduler.now,
    random: chance,
    interrupt: runner.interrupt.signal,
    lendTerminal: () => () => {},
    kill: () => {},
    secrets: new Secrets(),
    shown: {},
    version,
    own: filesIn(root),
  };
}
