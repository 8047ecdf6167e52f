// Protects the files that a run uses beside its downloads: its report, lists, input and config file, and the files of
// its key and token. No two of them may be the same file, none may be a SHA256SUMS that the run writes, and no download
// may replace one, because the service chooses the names of downloads. Takes the order and the settings, throws at the
// start, and returns a check for each download. Two paths are the same file if they are equal after links are resolved,
// or if they have the same inode: a list may have a second name by a hard link.
import { fstatSync, type Stats } from 'node:fs';
import { readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { statsAt } from '../../batch/files.ts';
import { SUMS_NAME } from '../../checksums/read.ts';
import { twinKey } from '../../disk/file-name.ts';
import { errnoOf, FilingsError } from '../../errors.ts';
import { typedPath } from '../../paths.ts';
import type { ResolvedSettings } from '../../settings/resolve.ts';
import type { World } from '../../world.ts';
import { type Order, outputIsDirectory } from './order.ts';

export interface RunFiles {
  /** Returns the error if no download may be written to `path`. `stats` describes the file that exists there. */
  faultAt(path: string, displayPath: string, stats: Stats | undefined): FilingsError | undefined;
}

type Deps = Pick<World, 'cwd' | 'env' | 'platform' | 'stdin' | 'stdout'>;

interface UsedFile {
  /** The name in messages: `--report`, `the config file`. */
  readonly name: string;
  /** An absolute path, or the descriptor of a standard stream. */
  readonly location: string | number;
  /** Files of one group may be the same file: several levels of the settings may name one key file. */
  readonly group?: string | undefined;
}

/** The used files by each of their identities: resolved paths, and device and inode. */
type UsedFiles = ReadonlyMap<string, UsedFile>;

/**
 * Returns the check for downloads. Throws `usage` if two of the files are the same, or if a download that an argument
 * names would replace one.
 */
export async function requireRunFiles(order: Order, resolved: ResolvedSettings, deps: Deps): Promise<RunFiles> {
  const { output, options } = order;
  const directory = resolve(deps.cwd, output === undefined ? order.directory : dirname(output));
  const realDirectory = await realPath(directory);
  const files = new Map<string, UsedFile>();
  for (const file of usedFiles(order, resolved, deps)) {
    for (const identity of await identitiesOf(file)) {
      requireDistinct(file, files.get(identity));
      if (options.checksums && isSums(identity, realDirectory)) throw usedAsSums(file.name);
      if (!files.has(identity)) files.set(identity, file);
    }
  }
  if (output !== undefined && output !== '-') await requireDistinctOutput(output, files, deps);
  const ownerAt = ownerFinder(files, directory, realDirectory);
  const sumsOwnerIn = options.checksums ? sumsOwnerFinder(files) : () => undefined;
  const sumsOwner = sumsOwnerIn(directory);
  if (sumsOwner) throw usedAsSums(sumsOwner);
  for (const name of output === undefined ? order.fileNames : []) {
    const { path = '' } = order.layout.pathFor(order.accessions.join(), name);
    const target = resolve(directory, path);
    const owner = ownerAt(target, statsAt(target));
    if (owner) throw sameFile(owner, `the file '${name}'`);
  }
  return {
    faultAt(path, displayPath, stats) {
      const subject = { path: displayPath };
      const owner = ownerAt(path, stats);
      if (owner) {
        const hint = 'choose another directory with --directory';
        return new FilingsError('integrity', `would replace the file of ${owner}`, { subject, hint });
      }
      const ownerOfSums = sumsOwnerIn(dirname(path));
      if (!ownerOfSums) return undefined;
      const message = `the ${SUMS_NAME} beside it is the file of ${ownerOfSums}`;
      return new FilingsError('usage', message, { subject, hint: `name another file for ${ownerOfSums}` });
    },
  };
}

function requireDistinct(file: UsedFile, other: UsedFile | undefined): void {
  const isSameGroup = file.group !== undefined && file.group === other?.group;
  if (other && !isSameGroup) throw sameFile(other.name, file.name);
}

async function requireDistinctOutput(output: string, files: UsedFiles, deps: Deps): Promise<void> {
  const path = typedPath(output, deps);
  const stats = await stat(path).catch(() => undefined);
  if (stats?.isDirectory()) throw outputIsDirectory(output);
  const file = { name: '--output', location: path };
  for (const identity of await identitiesOf(file)) requireDistinct(file, files.get(identity));
}

function sameFile(other: string, name: string): FilingsError {
  const hint = `choose another file for ${name.startsWith('--') ? name : other}`;
  return new FilingsError('usage', `${other} and ${name} are the same file`, { hint });
}

function usedAsSums(name: string): FilingsError {
  return new FilingsError('usage', `--checksums keeps a ${SUMS_NAME} of its own there`, {
    subject: { name },
    hint: `name another file for ${name}`,
  });
}

function usedFiles(
  { input, output, report, options: { failed, done } }: Order,
  { configPath, credentialFiles }: ResolvedSettings,
  { cwd, env, platform, stdin, stdout }: Deps,
): readonly UsedFile[] {
  if (failed === '-') throw notFile('--failed');
  if (done === '-') throw notFile('--done');
  const options = Object.entries({ input, output: output === '-' ? '-' : undefined, report, failed, done });
  const used = options.flatMap(([name, path]): UsedFile[] => {
    if (path === undefined) return [];
    if (path !== '-') return [{ name: `--${name}`, location: typedPath(path, { cwd, platform }) }];
    const { fd } = name === 'input' ? stdin : stdout;
    return fd === undefined ? [] : [{ name: `--${name} -`, location: fd }];
  });
  const { NODE_EXTRA_CA_CERTS: authorities } = env;
  return [
    ...used,
    ...(configPath === undefined ? [] : [{ name: 'the config file', location: resolve(cwd, configPath) }]),
    ...credentialFiles.map(({ name, path, group }) => ({ name, location: path, group })),
    ...(authorities ? [{ name: 'NODE_EXTRA_CA_CERTS', location: resolve(cwd, authorities) }] : []),
  ];
}

/** Returns the resolved paths of a file, and its device and inode. Throws `usage` if `--failed` is not a plain file. */
async function identitiesOf({ name, location }: UsedFile): Promise<readonly string[]> {
  const isPath = typeof location === 'string';
  const stats = isPath ? await stat(location).catch(() => undefined) : fstatSync(location);
  // The failed list is written by rename, which would replace a device or a FIFO.
  if (name === '--failed' && stats?.isFile() === false) throw notFile(name);
  // Several uses of a terminal or a null device do no harm. Two writers of a file or a pipe would mix their lines.
  if (stats && !stats.isFile() && !stats.isFIFO()) return [];
  // A download would replace a link itself, so the link and its target are both protected.
  const paths = isPath ? [join(await realPath(dirname(location)), basename(location)), await realPath(location)] : [];
  const inode = inodeOf(stats);
  return [...new Set(inode === undefined ? paths : [...paths, inode])];
}

/**
 * Returns device and inode as text. Returns undefined for an inode beyond 2^53, which Windows has: such a number loses
 * digits, so two files could have the same one.
 */
function inodeOf(stats: Stats | undefined): string | undefined {
  return stats && Number.isSafeInteger(stats.ino) ? `${stats.dev}:${stats.ino}` : undefined;
}

/** Returns a path without links. The part of the path that does not exist yet stays as it is. */
async function realPath(path: string): Promise<string> {
  const real = await realpath(path).catch((error) => (errnoOf(error) === 'ENOENT' ? undefined : path));
  if (real !== undefined) return real;
  // On Windows even the drive may not exist.
  if (dirname(path) === path) return path;
  const parent = await realPath(dirname(path));
  const target = await readlink(path).catch(() => undefined);
  return target === undefined ? join(parent, basename(path)) : realPath(resolve(parent, target));
}

/** Whether `--checksums` may write to this path. Some disks treat several spellings of a name as the same. */
function isSums(path: string, directory: string): boolean {
  return twinKey(basename(path)) === twinKey(SUMS_NAME) && path.startsWith(join(directory, sep));
}

/** Returns a function that names the used file that a download would replace, also on a disk that ignores case. */
function ownerFinder(files: UsedFiles, directory: string, realDirectory: string) {
  const inside = [...files].filter(([identity]) => identity.startsWith(join(realDirectory, sep)));
  const below = new Map(inside.map(([path, { name }]) => [twinKey(path.slice(realDirectory.length)), name]));
  return (path: string, stats: Stats | undefined): string | undefined => {
    const owner = ownerByInode(files, stats);
    // A batch may have a million files, and rarely a used file below its directory.
    return owner ?? (below.size > 0 ? below.get(twinKey(path.slice(directory.length))) : undefined);
  };
}

/** Returns a function that names the used file that is also the SHA256SUMS of a directory, by a hard link. */
function sumsOwnerFinder(files: UsedFiles) {
  let last: { readonly directory: string; readonly owner: string | undefined } | undefined;
  return (directory: string): string | undefined => {
    if (last?.directory !== directory) {
      last = { directory, owner: ownerByInode(files, statsAt(join(directory, SUMS_NAME))) };
    }
    return last.owner;
  };
}

function ownerByInode(files: UsedFiles, stats: Stats | undefined): string | undefined {
  const inode = inodeOf(stats);
  return inode === undefined ? undefined : files.get(inode)?.name;
}

function notFile(name: string): FilingsError {
  return new FilingsError('usage', `${name} must be a file`);
}
