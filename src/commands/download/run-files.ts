// Protects the files that a run uses besides its downloads: its report, lists and input, the config file, and the files
// of its key and token. No two of them may be the same file, and no download may replace one, because the service
// chooses the names of downloads. Two paths are the same file if they are equal after links are resolved.
import { readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { SUMS_NAME } from '../../checksums/format.ts';
import { foldName } from '../../disk/file-name.ts';
import { FilingsError } from '../../errors.ts';
import { resolveTypedPath } from '../../paths.ts';
import type { ResolvedSettings } from '../../settings/resolve.ts';
import { listCredentialFiles } from '../../settings/settings.ts';
import type { World } from '../../world.ts';
import { type Order, outputIsDirectory } from './order.ts';

/** As many links as Linux follows. */
const MAX_LINKS = 40;

/**
 * Returns a function that refuses a download to the path of such a file. Throws `usage` if two of the files that
 * options name are the same, or if one is the directory's SHA256SUMS.
 */
export async function requireRunFiles(order: Order, resolved: ResolvedSettings, world: World) {
  const { output, report, options } = order;
  const { input, failed, done } = options;
  await requireFileOrNothing(order, world);
  /** The options of the files by the keys of their paths. */
  const names = new Map<string, string>();
  const isSums = (key: string) => options.checksums && basename(key) === foldName(SUMS_NAME);
  const add = async (name: string, path: string) => {
    const key = await keyOf(path);
    const other = isSums(key) ? '--checksums' : names.get(key);
    if (other !== undefined && !(await isDevice(path))) {
      throw new FilingsError('usage', `${other} and ${name} are the same file`, {
        hint: `choose another file for ${name}`,
      });
    }
    if (name !== '--output') names.set(key, name);
  };
  const { configPath, settings } = resolved;
  if (configPath !== undefined) await add('the config file', resolve(world.cwd, configPath));
  for (const path of listCredentialFiles(settings)) await add('the file of a key or token', resolve(world.cwd, path));
  for (const [name, path] of Object.entries({ input, report, failed, done, output })) {
    if (path !== undefined && path !== '-') await add(`--${name}`, resolveTypedPath(path, world));
  }
  const directory = resolve(world.cwd, output === undefined ? order.directory : dirname(output));
  const root = await keyOf(directory);
  const faultAt = (path: string, displayPath: string, code: 'integrity' | 'usage' = 'integrity') => {
    const owner = names.size > 0 ? names.get(root + foldName(path.slice(directory.length))) : undefined;
    if (owner === undefined) return undefined;
    const reason = `${owner} is the same file`;
    const hint = `choose another directory, or another file for ${owner}`;
    return new FilingsError(code, reason, { subject: { path: displayPath }, hint });
  };
  for (const name of output === undefined ? order.fileNames : []) {
    const { path = '' } = order.layout.pathFor(order.accessions.join(), name);
    const fault = faultAt(join(directory, path), name, 'usage');
    if (fault) throw fault;
  }
  return faultAt;
}

/** Throws `usage` if `--output` is a directory, or `--failed` anything but a file. It is written by a rename. */
async function requireFileOrNothing({ output, options: { failed } }: Order, world: World): Promise<void> {
  const statsOf = (path: string | undefined) =>
    path === undefined || path === '-' ? undefined : stat(resolveTypedPath(path, world)).catch(() => undefined);
  if (output !== undefined && (await statsOf(output))?.isDirectory()) throw outputIsDirectory(output);
  if ((await statsOf(failed))?.isFile() === false) throw new FilingsError('usage', '--failed must be a file');
}

/** Several uses of a terminal or a null device do no harm. */
async function isDevice(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats?.isCharacterDevice() === true;
}

/** Returns a key that two paths share if they may be one file. */
async function keyOf(path: string): Promise<string> {
  return foldName(await realPath(path));
}

/** Returns a path without links, also without those whose target does not exist yet. */
async function realPath(path: string, links = MAX_LINKS): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined || dirname(path) === path) return real ?? path;
  const target = links > 0 ? await readlink(path).catch(() => undefined) : undefined;
  if (target !== undefined) return realPath(resolve(dirname(path), target), links - 1);
  return join(await realPath(dirname(path), links), basename(path));
}
