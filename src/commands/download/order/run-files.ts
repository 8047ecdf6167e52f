import { fstatSync, type Stats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { whyNotPlain } from '../../../disk/plain-file.ts';
import { FilingsError } from '../../../errors.ts';
import type { World } from '../../../world.ts';
import type { Order } from './order.ts';

/** The files that a run reads or writes beside its downloads: by where they are, and by what they are. */
export interface RunFiles {
  /** Which of them a file would replace, as it is typed; `stats` of what has its final name. */
  at(path: string, stats: Stats | undefined): string | undefined;
}

interface Named {
  /** As it is typed. */
  readonly name: string;
  readonly path: string;
}

type Streams = Pick<World, 'cwd' | 'stdin' | 'stdout'>;

/**
 * The files of a run are different ones, by whatever path each is named, and none is a file that the command line says to
 * download. Throws `usage`.
 */
export async function requireRunFiles(order: Order, config: string | undefined, streams: Streams): Promise<RunFiles> {
  const { cwd } = streams;
  const { failed, done } = order.options;
  for (const [name, path] of Object.entries({ failed, done })) {
    if (path === '-') throw new FilingsError('usage', `--${name} must be a file, not -`, { hint: 'name a file' });
  }
  await requireReplaceable(failed, cwd);
  const seen = new Map<string, string>();
  const check = async ({ name, path }: Named, isAdded: boolean) => {
    for (const identity of await identitiesOf(path, streams)) {
      const other = seen.get(identity);
      if (other) throw sameFile(other, name);
      if (isAdded) seen.set(identity, name);
    }
  };
  for (const named of [...namedFiles(order, config, cwd), ...standardStreams(order)]) await check(named, true);
  for (const named of namedTargets(order, cwd)) await check(named, false);
  // What is made from now on has no other name yet; nor is there any of them in a directory that is made later.
  const directory = resolve(cwd, order.directory);
  const real = await realpath(directory).catch(() => directory);
  return {
    at(path, stats) {
      const found = stats && seen.get(`${stats.dev}:${stats.ino}`);
      return found ?? seen.get(real === directory ? path : join(real, path.slice(directory.length)));
    },
  };
}

/** The files that the command line says to download. */
function namedTargets({ output, accessions: [accession], fileNames, directory, layout }: Order, cwd: string): Named[] {
  if (output !== undefined) return output === '-' ? [] : [{ name: '--output', path: resolve(cwd, output) }];
  return fileNames.flatMap((name) => {
    const placed = accession === undefined ? undefined : layout.place(accession, name);
    // A name that no disk takes is refused by another rule.
    return placed === undefined || placed.fault
      ? []
      : [{ name: `the file '${name}'`, path: resolve(cwd, directory, placed.path) }];
  });
}

function namedFiles({ input, report, options }: Order, config: string | undefined, cwd: string): readonly Named[] {
  const { failed, done } = options;
  const typed = Object.entries({ input, report, failed, done }).flatMap(([name, path]) =>
    path === undefined || path === '-' ? [] : [{ name: `--${name}`, path: resolve(cwd, path) }],
  );
  return config === undefined ? typed : [...typed, { name: 'the config file', path: resolve(cwd, config) }];
}

/** What stdin and stdout are, where the run uses them; of stdout's two users another rule tells. */
function standardStreams({ input, report, output }: Order): readonly Named[] {
  const stdout = output === '-' ? '--output -' : report === '-' ? '--report -' : undefined;
  const streams = stdout === undefined ? [] : [{ name: stdout, path: 'stdout' }];
  return input === '-' ? [...streams, { name: '--input -', path: 'stdin' }] : streams;
}

/** What is put in its place as a whole can't be a device or a FIFO, which would be gone for everybody. Throws `usage`. */
async function requireReplaceable(failed: string | undefined, cwd: string): Promise<void> {
  const stats = failed === undefined ? undefined : await stat(resolve(cwd, failed)).catch(() => undefined);
  const why = stats && whyNotPlain(stats);
  if (why !== undefined) throw new FilingsError('usage', `--failed ${failed}: ${why}`, { hint: 'name a file' });
}

/** What a file is known by: where it is, and what has that name, which may have a second one. */
async function identitiesOf(path: string, streams: Streams): Promise<ReadonlySet<string>> {
  const stats = await statsOf(path, streams);
  // A terminal or a null device may well be named twice.
  if (stats && !isOneFile(stats)) return new Set();
  const places = path.startsWith('/') ? await placesOf(path) : [];
  return new Set(stats ? [...places, `${stats.dev}:${stats.ino}`] : places);
}

/** A file or a pipe: what two write to is mixed. */
function isOneFile(stats: Stats): boolean {
  return stats.isFile() || stats.isFIFO();
}

async function statsOf(path: string, { stdin, stdout }: Streams): Promise<Stats | undefined> {
  if (path.startsWith('/')) return stat(path).catch(() => undefined);
  const fd = path === 'stdout' ? stdout.fd : stdin.fd;
  return fd === undefined ? undefined : fstatSync(fd);
}

/** Where a path leads, and where its last name is. */
async function placesOf(path: string): Promise<readonly string[]> {
  const directory = await realpath(dirname(path)).catch(() => dirname(path));
  const place = join(directory, basename(path));
  return [place, await realpath(path).catch(() => place)];
}

function sameFile(other: string, one: string): FilingsError {
  return new FilingsError('usage', `${other} and ${one} are the same file`, { hint: 'give each a file of its own' });
}
