import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';

/** Linux follows at most this many symbolic links in one path: path_resolution(7). */
const MAX_LINKS = 40;

/**
 * Unlike `realpath`, it also resolves the links of an absolute path whose file or directory does not exist yet. A loop
 * of links is left as it is.
 */
export async function resolveLinks(path: string, linksLeft = MAX_LINKS): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined || dirname(path) === path) return real ?? path;
  const target = linksLeft > 0 ? await readlink(path).catch(() => undefined) : undefined;
  // Not joined by `resolve`, which would remove a link's name together with the `..` behind it.
  if (target !== undefined)
    return resolveLinks(isAbsolute(target) ? target : `${dirname(path)}/${target}`, linksLeft - 1);
  return join(await resolveLinks(dirname(path), linksLeft), basename(path));
}
