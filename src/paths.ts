// Decides everything about paths that depends on the platform: separators, the home directory and the null device. The
// name of the platform is an argument, so that tests cover Windows on every system.
import { posix, win32 } from 'node:path';
import { FilingsError } from './errors.ts';
import type { World } from './world.ts';

const NULL_DEVICE = '\\\\.\\NUL';

export function pathModule(platform: string): typeof posix {
  return platform === 'win32' ? win32 : posix;
}

/** Returns the segments of a path. The first is a drive (`C:`), or empty if the path begins with a slash. */
export function splitPath(path: string, platform: string): readonly string[] {
  return withSlashes(path, platform).split('/');
}

/** Reports and the findings of `verify` have slashes on every platform. */
export function withSlashes(path: string, platform: string): string {
  return platform === 'win32' ? path.replaceAll('\\', '/') : path;
}

/** Replaces slashes, which layouts have on every platform, by the platform's separators. */
export function nativePath(path: string, platform: string): string {
  return platform === 'win32' ? path.replaceAll('/', '\\') : path;
}

/**
 * Makes a path that the user typed absolute. On Windows, `nul` in any spelling is the null device. Without `env`, a `~`
 * is refused: options of the command line have it replaced already when they are parsed.
 */
export function resolveTypedPath(
  path: string,
  { cwd, platform, env = {} }: Pick<World, 'cwd' | 'platform'> & Partial<Pick<World, 'env'>>,
): string {
  if (platform === 'win32' && /^(\\\\\.\\)?nul:?$/i.test(path)) return NULL_DEVICE;
  return pathModule(platform).resolve(cwd, expandHome(path, homeDirectory(env, platform)));
}

/** Expects an absolute path. */
export function isNullDevice(path: string): boolean {
  return path === '/dev/null' || path === NULL_DEVICE;
}

/**
 * Replaces `~` at the start of a path by the home directory. Shells do so only at the start of a word, so neither
 * in `--directory=~/x` nor in a config file. Throws `usage` if there is no home directory, because otherwise a
 * directory named `~` would be created.
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
