import { lstat } from 'node:fs/promises';
import { errnoOf, FilingsError } from '../../errors.ts';

/**
 * Why a directory below the user's could not be opened, where something else has its name: an error of that one path. What
 * systems say of a link there differs, so it is looked at. Undefined: there was another reason.
 */
export async function inTheWay(error: unknown, entry: string, path: string): Promise<FilingsError | undefined> {
  if (!['ELOOP', 'ENOTDIR', 'EMLINK'].includes(errnoOf(error) ?? '')) return undefined;
  const stat = await lstat(entry).catch(() => undefined);
  if (!stat || stat.isDirectory()) return undefined;
  const link = stat.isSymbolicLink();
  return new FilingsError('local_io', `${path}: cannot write there: ${link ? 'it is a link' : 'it is no directory'}`, {
    hint: link
      ? 'links below the target directory are not followed: remove it, or choose another directory'
      : 'move it away, or choose another directory with --directory',
    cause: error,
  });
}
