import { fstatSync, type Stats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { statsAt } from '../../batch/files.ts';
import { FilingsError } from '../../errors.ts';
import type { World } from '../../world.ts';
import { type Order, outputIsDirectory } from './order.ts';

/** What a run reads or writes beside its downloads. */
export interface RunFiles {
  /** Which of them a file would replace, as it is typed; `stats` of what has its final name. */
  at(path: string, stats: Stats | undefined): string | undefined;
}

type Around = Pick<World, 'cwd' | 'stdin' | 'stdout'>;

/** As it is typed, and its path or the descriptor of a standard stream. */
type Used = readonly [name: string, place: string | number | undefined];

/** They are different ones, by whatever path each is named, and none is downloaded by its name. Throws `usage`. */
export async function requireRunFiles(order: Order, config: string | undefined, around: Around): Promise<RunFiles> {
  const { cwd } = around;
  const seen = new Map<string, string>();
  const checked = async ([name, place]: Used) => {
    const identities = await identitiesOf(name, place);
    for (const identity of identities) refuseSame(seen.get(identity), name);
    return identities;
  };
  for (const used of usedFiles(order, config, around)) {
    for (const identity of await checked(used)) seen.set(identity, used[0]);
  }
  const { output } = order;
  if (output !== undefined && output !== '-') {
    const stats = await stat(resolve(cwd, output)).catch(() => undefined);
    if (stats?.isDirectory()) throw outputIsDirectory(output);
    await checked(['--output', resolve(cwd, output)]);
  }
  // What is made from now on has no other name yet; nor is there any of them in a directory that is made later.
  const directory = resolve(cwd, order.directory);
  const real = await realpath(directory).catch(() => directory);
  const at = (path: string, stats: Stats | undefined) => {
    const found = stats && seen.get(`${stats.dev}:${stats.ino}`);
    return found ?? seen.get(real === directory ? path : join(real, path.slice(directory.length)));
  };
  for (const name of order.output === undefined ? order.fileNames : []) {
    const { path = '' } = order.layout.place(order.accessions.join(), name);
    const target = resolve(directory, path);
    refuseSame(at(target, statsAt(target)), `the file '${name}'`);
  }
  return { at };
}

function refuseSame(other: string | undefined, name: string): void {
  if (!other) return;
  const hint = `choose another file for ${name.startsWith('--') ? name : other}`;
  throw new FilingsError('usage', `${other} and ${name} are the same file`, { hint });
}

function usedFiles(
  { input, output, report, options: { failed, done } }: Order,
  config: string | undefined,
  around: Around,
): readonly Used[] {
  const { cwd } = around;
  for (const [name, path] of Object.entries({ failed, done })) {
    if (path === '-') throw notFile(`--${name}`);
  }
  const used = Object.entries({ input, output: output === '-' ? '-' : undefined, report, failed, done });
  const typed = used.flatMap(([name, path]): Used[] => {
    if (path === undefined) return [];
    if (path === '-') return [[`--${name} -`, name === 'input' ? around.stdin.fd : around.stdout.fd]];
    return [[`--${name}`, resolve(cwd, path)]];
  });
  return config === undefined ? typed : [...typed, ['the config file', resolve(cwd, config)]];
}

/** What a file is known by: where it is, and what has that name, which may have a second one. */
async function identitiesOf(name: string, place: Used[1]): Promise<readonly string[]> {
  if (place === undefined) return [];
  const isPath = typeof place === 'string';
  const stats = isPath ? await stat(place).catch(() => undefined) : fstatSync(place);
  // It is put in its place as a whole: a device or a FIFO would be gone for everybody.
  if (name === '--failed' && stats?.isFile() === false) throw notFile(name);
  // A terminal or a null device may well be named twice; what two write to a file or a pipe is mixed.
  if (stats && !stats.isFile() && !stats.isFIFO()) return [];
  const places = isPath ? [join(await realpath(dirname(place)).catch(() => dirname(place)), basename(place))] : [];
  return stats ? [...places, `${stats.dev}:${stats.ino}`] : places;
}

function notFile(name: string): FilingsError {
  return new FilingsError('usage', `${name} must be a file`);
}
