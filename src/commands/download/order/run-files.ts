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
export async function requireRunFiles(order: Order, config: string | undefined, streams: Streams): Promise<void> {
  const { cwd } = streams;
  const { failed, done } = order.options;
  for (const [name, path] of Object.entries({ failed, done })) {
    if (path === '-') throw new FilingsError('usage', `--${name} must be a file, not -`, { hint: 'name a file' });
  }
  await requireReplaceable(failed, cwd);
  const named = namedFiles(order, config, cwd);
  const seen = new Map<string, string>();
  const files = order.output === undefined ? [] : [{ name: '--output', path: resolve(cwd, order.output) }];
  for (const { name, path } of [...named, ...standardStreams(order), ...files]) {
    for (const identity of await identitiesOf(path, streams)) {
      const other = seen.get(identity);
      if (other) throw sameFile(other, name);
      seen.set(identity, name);
    }
  }
  if (order.output !== undefined || order.accessions.length !== 1) return;
  const directory = resolve(cwd, order.directory);
  for (const fileName of order.fileNames) {
    const placed = order.layout.place(order.accessions[0] as string, fileName);
    // A name that no disk takes is refused by another rule.
    if (placed.fault) continue;
    for (const identity of await identitiesOf(join(directory, placed.path), streams)) {
      const other = seen.get(identity);
      if (other) throw sameFile(other, `the file '${fileName}'`);
    }
  }
}

/** As they are once the run has opened them; a directory that is made later holds none of them. */
export async function openedRunFiles(order: Order, config: string | undefined, streams: Streams): Promise<RunFiles> {
  const { cwd } = streams;
  const byPath = new Map<string, string>();
  const inodes = new Map<number, { readonly dev: number; readonly name: string }>();
  for (const { name, path } of [...namedFiles(order, config, cwd), ...standardStreams(order)]) {
    const stats = await statsOf(path, streams);
    if (path.startsWith('/')) for (const place of await placesOf(path)) byPath.set(place, name);
    if (stats && isOneFile(stats)) inodes.set(stats.ino, { dev: stats.dev, name });
  }
  const directory = resolve(cwd, order.directory);
  const real = await realpath(directory).catch(() => directory);
  return {
    at(path, stats) {
      const found = stats && inodes.get(stats.ino);
      if (found && found.dev === stats.dev) return found.name;
      return byPath.get(real === directory ? path : join(real, path.slice(directory.length)));
    },
  };
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
