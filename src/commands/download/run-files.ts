// Protects the files that a run itself uses: its report, the lists of --failed and --done, its input, the config file,
// and the files that hold its key or token. No two of them may be the same file, and no download may replace one of
// them, because the service chooses the names of its files. Paths are compared after links are resolved and names
// folded.
import { stat } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { SUMS_NAME } from '../../checksums/format.ts';
import { resolveLinks } from '../../disk/calls.ts';
import { foldName } from '../../disk/file-name.ts';
import { FilingsError } from '../../errors.ts';
import { requireUtf8Path, withSlashes } from '../../paths.ts';
import type { ResolvedSettings } from '../../settings/resolve.ts';
import { listCredentialFiles } from '../../settings/settings.ts';
import { isStreamPath, resolveFilePath } from '../../stdio/output-path.ts';
import { shellWord } from '../../text.ts';
import type { World } from '../../world.ts';
import type { DownloadArgs } from './arguments.ts';

/**
 * Throws `usage` if two files that the run uses are the same. Returns the files that no download may replace: what
 * messages call each of them, such as `--report`, by its folded path below `--directory`, with slashes.
 */
export async function protectRunFiles(
  args: DownloadArgs,
  resolved: ResolvedSettings,
  world: World,
): Promise<ReadonlyMap<string, string>> {
  const { options, paths, root } = args;
  await refuseWrongFileTypes(args, world);
  const labels = new Map<string, string>();
  const requireUnused = async (label: string, path: string) => {
    const foldedPath = foldName(await resolveLinks(path));
    const hint = `choose another file for ${label}`;
    // It is not known yet which directories the downloads go to.
    if (options.checksums && [path, foldedPath].some((name) => foldName(basename(name)) === foldName(SUMS_NAME))) {
      const reason = `${label} cannot be named SHA256SUMS: --checksums writes files of that name`;
      throw new FilingsError('usage', reason, { hint });
    }
    const other = labels.get(foldedPath);
    // Two options may share a terminal or `/dev/null`.
    if (other !== undefined && !(await isCharacterDevice(path))) {
      throw new FilingsError('usage', `${other} and ${label} are the same file`, { hint });
    }
    return foldedPath;
  };
  const protect = async (label: string, path: string) => {
    labels.set(await requireUnused(label, path), label);
    // If `path` is a link, a download with `--if-exists overwrite` would replace the link itself.
    labels.set(foldName(join(await resolveLinks(dirname(path)), basename(path))), label);
  };
  const { configPath, settings } = resolved;
  if (configPath !== undefined) await protect('the config file', configPath);
  for (const path of listCredentialFiles(settings)) await protect('the key or token file', path);
  const { output, ...others } = paths;
  for (const [name, path] of Object.entries(others)) if (path !== undefined) await protect(`--${name}`, path);
  // Not protected, because the download itself is written there. It must still not be one of the files above.
  if (output !== undefined) await requireUnused('--output', output);

  if (options.output !== undefined) return new Map();
  requireUtf8Path(root);
  // Links are resolved in `root` only, and only once. A download refuses any symbolic link below it.
  const prefix = foldName(join(await resolveLinks(root), sep));
  const below = [...labels].filter(([path]) => path.startsWith(prefix));
  return new Map(below.map(([path, label]) => [withSlashes(path.slice(prefix.length), world.platform), label]));
}

/**
 * Unlike the report, the two lists cannot be written to stdout: `-` would become a file of that name. `--failed` is
 * written by a rename, which would replace a device or a pipe.
 */
async function refuseWrongFileTypes({ options, paths }: DownloadArgs, world: World): Promise<void> {
  const { output, report, failed, done } = options;
  for (const [name, path] of Object.entries({ output, report, failed, done })) {
    const hint = name === 'output' ? `to write into this directory: --directory ${shellWord(`${path}`)}` : undefined;
    if (path !== undefined && path !== '-') await resolveFilePath(`--${name}`, path, world, hint);
  }
  if (failed === '-' || (paths.failed !== undefined && (await isStreamPath(paths.failed))))
    throw new FilingsError('usage', '--failed must be a file');
  if (done === '-') throw new FilingsError('usage', '--done must be a file');
}

async function isCharacterDevice(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats?.isCharacterDevice() === true;
}
