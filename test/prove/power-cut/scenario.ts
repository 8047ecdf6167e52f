import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NODE, run, type Workplace } from '../../cli/program.ts';
import { container } from '../container.ts';
import type { Tree } from './crash-state.ts';
import { TRACED } from './replay.ts';
import type { Mood } from './service.ts';
import { type Call, readCalls } from './strace-log.ts';

/** One run of the program, and how the service is meanwhile. */
export interface Act {
  readonly args: readonly string[];
  readonly mood?: Partial<Mood>;
  /** The call at which it is killed, and the how manieth of them. */
  readonly killedAt?: readonly [call: string, time: number];
}

/** Runs that follow each other on one disk, which the power may leave at any moment. */
export interface Scenario {
  readonly name: string;
  readonly acts: readonly Act[];
  /** What stands there before, by path. */
  readonly old?: Tree;
  /** The last run can go on with parts of the one before. */
  readonly resumes?: boolean;
}

/** What a run may take under strace. Milliseconds. */
const PATIENCE = 60_000;

/** Runs the program under strace, and gives its calls. */
export async function trace(place: Workplace, bin: string, env: Record<string, string>, act: Act): Promise<Call[]> {
  const log = join(place.home, 'strace.log');
  const kill = act.killedAt ? ['-e', `inject=${act.killedAt[0]}:signal=SIGKILL:when=${act.killedAt[1]}`] : [];
  const line = ['-f', '-xx', '-s', '33554432', '-o', log, '-e', `trace=${TRACED}`, ...kill, NODE, bin, ...act.args];
  await run('strace', line, { cwd: place.path, env: environment(place, env), timeout: PATIENCE });
  return readCalls(await readFile(log, 'latin1'));
}

export function environment({ home }: Workplace, env: Record<string, string>) {
  return { PATH: process.env.PATH ?? '', HOME: home, ...env };
}

/** The plain files below a path. */
export async function treeAt(path: string): Promise<Tree> {
  const found = await readdir(path, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = files.map(async (file) => [file.slice(path.length + 1), await readFile(file)] as const);
  return new Map(await Promise.all(read));
}

/** Nothing but a tree stands at a path then, and it is days old. */
export async function rebuild(path: string, tree: Tree): Promise<void> {
  for (const name of await readdir(path)) await rm(join(path, name), { recursive: true });
  for (const [name, content] of tree) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), content);
  }
  await age(path);
}

const DAYS = 10 * 86_400;

/** Older than the machine’s start, as after a reboot. */
export async function age(path: string): Promise<void> {
  const then = Date.now() / 1000 - DAYS;
  for (const name of (await treeAt(path)).keys()) await utimes(join(path, name), then, then);
}

/** Another boot's id than that of the machine. */
const BOOT = '11111111-2222-4333-8444-555555555555\n';

/** A command line that runs the one behind it as after a reboot. */
export async function rebooted({ home }: Workplace): Promise<string[]> {
  const boot = join(home, 'boot');
  await writeFile(boot, BOOT);
  return container([], `mount --bind '${boot}' /proc/sys/kernel/random/boot_id`);
}
