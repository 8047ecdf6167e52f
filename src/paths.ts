// Paths of the platform. All decisions about separators, the home directory and the null device are made here. They
// take the name of the platform as an argument, so that tests cover Windows on every system.
import { posix, win32 } from 'node:path';
import { FilingsError } from './errors.ts';
import type { World } from './world.ts';

const NULL_DEVICE = '\\\\.\\NUL';

/** Returns the path functions of a platform. */
export function pathsOf(platform: string): typeof posix {
  return platform === 'win32' ? win32 : posix;
}

/** Returns the segments of a path. A drive or a root is one of them. */
export function segmentsOf(path: string, platform: string): readonly string[] {
  return withSlashes(path, platform).split('/');
}

/** Returns a path with slashes, the form of reports and findings. */
export function withSlashes(path: string, platform: string): string {
  return platform === 'win32' ? path.replaceAll('\\', '/') : path;
}

/** Returns a relative path with the separators of the platform. The argument has slashes, as a layout has. */
export function nativePath(path: string, platform: string): string {
  return platform === 'win32' ? path.replaceAll('/', '\\') : path;
}

/**
 * Returns the absolute path of a path that a user typed. `~/` at its beginning is the home directory, because a shell
 * expands it neither in `--directory=~/x` nor in a file. On Windows, `nul` in any spelling is the null device.
 */
export function typedPath(
  path: string,
  { cwd, platform, env = {} }: Pick<World, 'cwd' | 'platform'> & Partial<Pick<World, 'env'>>,
): string {
  if (platform === 'win32' && /^(\\\\\.\\)?nul:?$/i.test(path)) return NULL_DEVICE;
  return pathsOf(platform).resolve(cwd, expandHome(path, homeIn(env, platform)));
}

/** Returns whether an absolute path is the null device. */
export function isNullDevice(path: string): boolean {
  return path === '/dev/null' || path === NULL_DEVICE;
}

/**
 * Returns a path in which `~` at the start is the home directory. Shells do not expand it in `--directory=~/x`. Throws
 * `usage` without a home directory, because a directory named `~` would be made.
 */
export function expandHome(path: string, home: string | undefined): string {
  if (!/^~(?:\/|$)/.test(path)) return path;
  if (home !== undefined) return home + path.slice(1);
  const hint = 'set HOME, or write the whole path';
  throw new FilingsError('usage', 'the home directory is not known', { subject: { path }, hint });
}

/** Returns the home directory, which `~/` means, or undefined. */
export function homeIn(env: World['env'], platform: string): string | undefined {
  return (platform === 'win32' ? env.USERPROFILE : env.HOME) || undefined;
}
