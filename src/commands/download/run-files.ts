// The files that a run reads or writes beside its downloads: its report, lists, input and config file, and the files of
// its key and token. No two of them may be the same file, none may be a SHA256SUMS that the run writes, and no download,
// whose name the service may have chosen, may replace one. A file is known by its path, and by what has that path, which
// may have a second one.
import { fstatSync, type Stats } from 'node:fs';
import { readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { statsAt } from '../../batch/files.ts';
import { SUMS_NAME } from '../../checksums/read.ts';
import { twinKey } from '../../disk/file-name.ts';
import { errnoOf, FilingsError } from '../../errors.ts';
import { typedPath } from '../../paths.ts';
import type { Resolved } from '../../settings/resolve.ts';
import type { World } from '../../world.ts';
import { type Order, outputIsDirectory } from './order.ts';

export interface RunFiles {
  /** Returns why a download may not be written to a path; `stats` of what is there. */
  faultAt(path: string, displayPath: string, stats: Stats | undefined): FilingsError | undefined;
}

type Deps = Pick<World, 'cwd' | 'env' | 'platform' | 'stdin' | 'stdout'>;

interface Used {
  /** As a person would name it: `--report`, `the config file`. */
  readonly name: string;
  /** A path, or the descriptor of a standard stream. */
  readonly place: string | number;
  /** Several levels of the settings may name the same file of a key. */
  readonly group?: string | undefined;
}

/** By path, and by device and inode. */
type Seen = ReadonlyMap<string, Used>;

/** Throws `usage` if two of these files are the same, or if a download that an argument names would replace one. */
export async function requireRunFiles(order: Order, resolved: Resolved, deps: Deps): Promise<RunFiles> {
  const { output, options } = order;
  const directory = resolve(deps.cwd, output === undefined ? order.directory : dirname(output));
  const realDirectory = await realPath(directory);
  const seen = new Map<string, Used>();
  const check = async (used: Used) => {
    const identities = await identitiesOf(used);
    for (const identity of identities) {
      const other = seen.get(identity);
      if (other && (other.group === undefined || other.group !== used.group)) refuseSame(other.name, used.name);
      if (options.checksums && isSums(identity, realDirectory)) refuseSums(used.name);
    }
    return identities;
  };
  for (const used of usedFiles(order, resolved, deps)) {
    for (const identity of await check(used)) seen.set(identity, seen.get(identity) ?? used);
  }
  if (output !== undefined && output !== '-') {
    const path = typedPath(output, deps);
    const stats = await stat(path).catch(() => undefined);
    if (stats?.isDirectory()) throw outputIsDirectory(output);
    await check({ name: '--output', place: path });
  }
  const ownerAt = ownerFinder(seen, directory, realDirectory);
  const sumsOwnerIn = options.checksums ? sumsOwnerFinder(seen) : () => undefined;
  const sumsOwner = sumsOwnerIn(directory);
  if (sumsOwner) refuseSums(sumsOwner);
  for (const name of output === undefined ? order.fileNames : []) {
    const { path = '' } = order.layout.place(order.accessions.join(), name);
    const target = resolve(directory, path);
    const owner = ownerAt(target, statsAt(target));
    if (owner) refuseSame(owner, `the file '${name}'`);
  }
  return {
    faultAt(path, displayPath, stats) {
      const owner = ownerAt(path, stats);
      if (owner) {
        const hint = 'choose another directory with --directory';
        return new FilingsError('integrity', `would replace the file of ${owner}`, {
          subject: { path: displayPath },
          hint,
        });
      }
      const ownerOfSums = sumsOwnerIn(dirname(path));
      if (!ownerOfSums) return undefined;
      const hint = `name another file for ${ownerOfSums}`;
      return new FilingsError('usage', `the ${SUMS_NAME} beside it is the file of ${ownerOfSums}`, {
        subject: { path: displayPath },
        hint,
      });
    },
  };
}

function refuseSame(other: string, name: string): never {
  const hint = `choose another file for ${name.startsWith('--') ? name : other}`;
  throw new FilingsError('usage', `${other} and ${name} are the same file`, { hint });
}

function refuseSums(name: string): never {
  throw new FilingsError('usage', `--checksums keeps a ${SUMS_NAME} of its own there`, {
    subject: { name },
    hint: `name another file for ${name}`,
  });
}

function usedFiles(
  { input, output, report, options: { failed, done } }: Order,
  { configPath, credentialFiles }: Resolved,
  { cwd, env, platform, stdin, stdout }: Deps,
): readonly Used[] {
  for (const [name, path] of Object.entries({ failed, done })) {
    if (path === '-') throw notFile(`--${name}`);
  }
  const options = Object.entries({ input, output: output === '-' ? '-' : undefined, report, failed, done });
  const used = options.flatMap(([name, path]): Used[] => {
    if (path === undefined) return [];
    if (path !== '-') return [{ name: `--${name}`, place: typedPath(path, { cwd, platform }) }];
    const { fd } = name === 'input' ? stdin : stdout;
    return fd === undefined ? [] : [{ name: `--${name} -`, place: fd }];
  });
  const { NODE_EXTRA_CA_CERTS: authorities } = env;
  return [
    ...used,
    ...(configPath === undefined ? [] : [{ name: 'the config file', place: resolve(cwd, configPath) }]),
    ...credentialFiles.map(({ name, path, group }) => ({ name, place: path, group })),
    ...(authorities ? [{ name: 'NODE_EXTRA_CA_CERTS', place: resolve(cwd, authorities) }] : []),
  ];
}

async function identitiesOf({ name, place }: Used): Promise<readonly string[]> {
  const isPath = typeof place === 'string';
  const stats = isPath ? await stat(place).catch(() => undefined) : fstatSync(place);
  // It is put in its place as a whole: a device or a FIFO would be gone for everybody.
  if (name === '--failed' && stats?.isFile() === false) throw notFile(name);
  // A terminal or a null device may well be named twice; what two write to a file or a pipe is mixed.
  if (stats && !stats.isFile() && !stats.isFIFO()) return [];
  // A link is a file of its own, which a download would replace, and leads to another one.
  const places = isPath ? [join(await realPath(dirname(place)), basename(place)), await realPath(place)] : [];
  return [...new Set([...places, ...inodesOf(stats)])];
}

/** Returns the name of the run's file that is also the file with these stats. */
function aliasOf(stats: Stats | undefined, seen: Seen): string | undefined {
  const [inode = ''] = inodesOf(stats);
  return seen.get(inode)?.name;
}

/** Returns device and inode as text, or nothing. On Windows inodes beyond 2^53 lose digits, so that two files have one. */
function inodesOf(stats: Stats | undefined): readonly string[] {
  return stats && Number.isSafeInteger(stats.ino) ? [`${stats.dev}:${stats.ino}`] : [];
}

/** Returns a path without links, as far as it exists. */
async function realPath(path: string): Promise<string> {
  const real = await realpath(path).catch((error) => (errnoOf(error) === 'ENOENT' ? undefined : path));
  if (real !== undefined) return real;
  // The drive itself may be missing.
  if (dirname(path) === path) return path;
  const parent = await realPath(dirname(path));
  const target = await readlink(path).catch(() => undefined);
  return target === undefined ? join(parent, basename(path)) : realPath(resolve(parent, target));
}

/** Whether `--checksums` may write to this path, in any spelling that a disk may take for it. */
function isSums(path: string, directory: string): boolean {
  return twinKey(basename(path)) === twinKey(SUMS_NAME) && path.startsWith(join(directory, sep));
}

/** Finds the name of the run's file that a download would replace, also on a disk without regard to case. */
function ownerFinder(seen: Seen, directory: string, realDirectory: string) {
  const inside = [...seen].filter(([identity]) => identity.startsWith(join(realDirectory, sep)));
  const below = new Map(inside.map(([path, { name }]) => [twinKey(path.slice(realDirectory.length)), name]));
  return (path: string, stats: Stats | undefined): string | undefined => {
    const found = aliasOf(stats, seen);
    return found ?? (below.size > 0 ? below.get(twinKey(path.slice(directory.length))) : undefined);
  };
}

/** Finds the name of the run's file that is also the SHA256SUMS of a directory, by another name. */
function sumsOwnerFinder(seen: Seen) {
  let last: { readonly directory: string; readonly owner: string | undefined } | undefined;
  return (directory: string): string | undefined => {
    if (last?.directory !== directory) {
      const stats = statsAt(join(directory, SUMS_NAME));
      last = { directory, owner: aliasOf(stats, seen) };
    }
    return last.owner;
  };
}

function notFile(name: string): FilingsError {
  return new FilingsError('usage', `${name} must be a file`);
}
