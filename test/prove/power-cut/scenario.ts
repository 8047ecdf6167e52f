import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NODE, run, type Workplace } from '../../cli/program.ts';
import { container } from '../container.ts';
import type { Tree } from './crash-state.ts';
import { TRACED } from './replay.ts';
import type { Mood } from './service.ts';
import { type Call, readCalls, textsOf } from './strace-log.ts';

/** One run of the program, and the state of the service during the run. */
export interface Act {
  readonly args: readonly string[];
  readonly mood?: Partial<Mood>;
  readonly killed?: Killed;
  /**
   * Runs the same command at the same time. The first one is killed when a file appears, if `killedBehind` names one.
   */
  readonly beside?: { readonly killedBehind?: string };
}

/** The point at which a run is killed. */
export interface Killed {
  /** The call, and the number of its occurrence. */
  readonly at: readonly [call: string, time: number];
  /** The last call before the kill that created a name, and the path of that name. */
  readonly named: readonly [call: string, path: RegExp];
}

/** Consecutive runs on one disk. The power may fail at any moment. */
export interface Scenario {
  readonly name: string;
  readonly acts: readonly Act[];
  /** Files that exist before the runs, by path. */
  readonly old?: Tree;
  /** True if the last run resumes parts of the one before. */
  readonly resumes?: boolean;
  /**
   * A command that deletes parts in filings of the done list, which other runs skip. Two concurrent runs may leave such
   * parts.
   */
  readonly sweeps?: readonly string[];
  /** The files that must exist below `out` in the end. By default, all files of all filings. */
  readonly files?: readonly string[];
}

/** Time limit of a run under strace, in milliseconds. */
const PATIENCE = 240_000;

/**
 * Runs the program under strace, or two programs under one strace. Returns their calls, or undefined if a kill came at
 * another moment than intended: with several concurrent files, a step of another file may come first.
 */
export async function trace(
  place: Workplace,
  bin: string,
  env: Record<string, string>,
  act: Act,
): Promise<Call[] | undefined> {
  const log = join(place.home, 'strace.log');
  const kill = act.killed ? ['-e', `inject=${act.killed.at[0]}:signal=SIGKILL:when=${act.killed.at[1]}`] : [];
  const line = ['-f', '-xx', '-s', '33554432', '-o', log, '-e', `trace=${TRACED}`, ...kill, ...lineOf(act, bin)];
  const ended = await run('strace', line, { cwd: place.path, env: environment(place, env), timeout: PATIENCE });
  const calls = readCalls(await readFile(log, 'latin1'));
  const wrong = act.killed ? ended.killedBy !== 'SIGKILL' : !act.mood?.cuts && ended.exitCode !== 0;
  if (wrong) throw new Error(`${act.args.join(' ')}: ${ended.killedBy ?? ended.exitCode} ${ended.stderr}`);
  if (!act.killed) return calls;
  const [name, path] = act.killed.named;
  const last = calls.filter((call) => ['mkdir', 'link', 'rename'].includes(call.name) && call.result === 0).at(-1);
  return last?.name === name && path.test(textsOf(last).at(-1)?.toString() ?? '') ? calls : undefined;
}

function lineOf({ args, beside }: Act, bin: string): string[] {
  if (!beside) return [NODE, bin, ...args];
  const start = `${[NODE, bin, ...args].join(' ')} &`;
  const { killedBehind } = beside;
  const kill = killedBehind ? `until [ -e ${killedBehind} ]; do sleep 0.01; done; kill -KILL $one` : '';
  return ['bash', '-c', `${start} one=$!\n${start}\n${kill}\nwait $!`];
}

export function environment({ home }: Workplace, env: Record<string, string>) {
  return { PATH: process.env.PATH ?? '', HOME: home, ...env };
}

/** The regular files below a path. */
export async function treeAt(path: string): Promise<Tree> {
  const found = await readdir(path, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = files.map(async (file) => [file.slice(path.length + 1), await readFile(file)] as const);
  return new Map(await Promise.all(read));
}

/** Replaces the content of a directory by a tree. Its files are days old, older than the boot, as after a reboot. */
export async function rebuild(path: string, tree: Tree): Promise<void> {
  for (const name of await readdir(path)) await rm(join(path, name), { recursive: true });
  const then = Date.now() / 1000 - DAYS;
  for (const [name, content] of tree) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), content);
    await utimes(join(path, name), then, then);
  }
}

const DAYS = 10 * 86_400;

/** A boot ID other than that of the machine. */
const BOOT = '11111111-2222-4333-8444-555555555555\n';

/** A command line that runs another one as after a reboot. */
export async function rebooted({ home }: Workplace): Promise<string[]> {
  const boot = join(home, 'boot');
  await writeFile(boot, BOOT);
  return container([], `mount --bind '${boot}' /proc/sys/kernel/random/boot_id`);
}
