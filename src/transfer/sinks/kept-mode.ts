import type { Stats } from 'node:fs';

/**
 * The permissions that stay when a file is replaced, as with the shell's `>`; undefined: those of a new file.
 * Another user's file says nothing about who may change ours; another group may do no more than everybody.
 */
export function keptMode(
  old: Pick<Stats, 'uid' | 'gid' | 'mode'>,
  part: Pick<Stats, 'uid' | 'gid'>,
): number | undefined {
  if (old.uid !== part.uid) return undefined;
  const mode = old.mode & 0o777;
  return old.gid === part.gid ? mode : (mode & 0o707) | ((mode & 0o007) << 3);
}
