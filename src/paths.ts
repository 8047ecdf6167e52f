// Decides everything about paths that depends on the platform: separators, the home directory and the null device. The
// name of the platform is an argument, so that tests cover Windows on every system.
import { posix, win32 } from 'node:path';
import { FilingsError } from './errors.ts';
import type { World } from './world.ts';

const NULL_DEVICE = '\\\\.\\NUL';

export function pathModule(platform: string): typeof posix {
  return platform === 'win32' ? win32 : posix;
}

/** Returns the segments of a path. The first one of an absolute path is a drive (`C:`) or empty. */
export function splitPath(path: string, platform: string): readonly string[] {
  return withSlashes(path, platform).split('/');
}

/** Replaces the backslashes of Windows by slashes. The lines of `--report` and `verify` have slashes everywhere. */
export function withSlashes(path: string, platform: string): string {
  return platform === 'win32' ? path.replaceAll('\\', '/') : path;
}

/** The opposite of `withSlashes`. Takes a path from the template of `--layout`, which has slashes on every platform. */
export function nativePath(path: string, platform: string): string {
  return platform === 'win32' ? path.replaceAll('/', '\\') : path;
}

/**
 * On Windows, `nul` in any spelling is the null device. `env` is only needed for a `~`, which the parser of the command
 * line has already replaced in options.
 */
export function resolveUserPath(
  path: string,
  { cwd, platform, env = {} }: Pick<World, 'cwd' | 'platform'> & Partial<Pick<World, 'env'>>,
): string {
  if (platform === 'win32' && /^(\\\\\.\\)?nul:?$/i.test(path)) return NULL_DEVICE;
  return pathModule(platform).resolve(cwd, expandHome(path, homeDirectory(env, platform)));
}

/** Expects the result of `resolveUserPath`. */
export function isNullDevice(path: string): boolean {
  return path === '/dev/null' || path === NULL_DEVICE;
}

/** Node replaces bytes that are not UTF-8 by U+FFFD, and would open or create another file with such a path. */
export function isUtf8Path(path: string): boolean {
  return !path.includes('\ufffd');
}

/** Expects an absolute path, because the bytes may be in that of the working directory. */
export function requireUtf8Path(path: string): void {
  if (isUtf8Path(path)) return;
  const details = { subject: { path }, hint: 'rename the file or directory, or choose another one', stopsRun: true };
  throw new FilingsError('local_io', 'the path is not UTF-8, so a file would be written next to it', details);
}

/**
 * Replaces `~` or `~/` at the start of a path by the home directory `home`. Shells do so only at the start of a word,
 * so neither in `--directory=~/x` nor in a config file. `~name` stays as it is. Throws `usage` if there is no home
 * directory, because otherwise a directory named `~` would be created.
 */
export function expandHome(path: string, home: string | undefined): string {
  if (!/^~(?:\/|$)/.test(path)) return path;
  if (home !== undefined) return home + path.slice(1);
  const hint = 'set HOME, or use an absolute path';
  throw new FilingsError('usage', 'the home directory is unknown', { subject: { path }, hint });
}

export function homeDirectory(env: World['env'], platform: string): string | undefined {
  return (platform === 'win32' ? env.USERPROFILE : env.HOME) || undefined;
}
