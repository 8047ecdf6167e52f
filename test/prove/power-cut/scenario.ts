import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BIN, NODE, run, type Workplace } from '../../cli/program.ts';
import type { Tree } from './crash-state.ts';
import { TRACED } from './replay.ts';
import type { Mood } from './service.ts';
import { type Call, readCalls } from './strace-log.ts';

/** One run of the program, and the state of the service during the run. */
export interface Act {
  readonly args: readonly string[];
  readonly mood?: Partial<Mood>;
  /** Whether the same command runs twice at the same time. */
  readonly isTwice?: boolean;
}

/** Consecutive runs on one disk. The power may fail at any moment. */
export interface Scenario {
  readonly name: string;
  readonly acts: readonly Act[];
  /** Files that exist before the runs, by path. */
  readonly old?: Tree;
  /** True if the last run resumes parts of the one before. */
  readonly resumes?: boolean;
  /** The files that must exist below `out` in the end. By default, all files of all filings. */
  readonly files?: readonly string[];
}

/** Time limit of a run under strace, in milliseconds. */
const PATIENCE = 240_000;

/** Runs the program under strace, or two programs under one strace. Returns their calls. */
export async function trace(place: Workplace, env: Record<string, string>, act: Act): Promise<Call[]> {
  const log = join(place.home, 'strace.log');
  const line = [NODE, BIN, ...act.args];
  const program = act.isTwice ? ['bash', '-c', `${line.join(' ')} &\n${line.join(' ')} &\nwait $!`] : line;
  const args = ['-f', '-xx', '-s', '33554432', '-o', log, '-e', `trace=${TRACED}`, ...program];
  const ended = await run('strace', args, { cwd: place.path, env: environment(place, env), timeout: PATIENCE });
  if (!act.mood?.cuts && ended.exitCode !== 0)
    throw new Error(`${act.args.join(' ')}: ${ended.killedBy ?? ended.exitCode} ${ended.stderr}`);
  return readCalls(await readFile(log, 'latin1'));
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

/** Replaces the content of a directory by a tree. */
export async function rebuild(path: string, tree: Tree): Promise<void> {
  for (const name of await readdir(path)) await rm(join(path, name), { recursive: true });
  for (const [name, content] of tree) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), content);
  }
}
