// Paths of the platform. All decisions about separators, the home directory and the null device are made here. They
// take the name of the platform as an argument, so that tests cover Windows on every system.
import { posix, win32 } from 'node:path';

const NULL_DEVICE = '\\\\.\\NUL';

/** Returns the path functions of a platform. */
export function pathsOf(platform: string): typeof posix {
  return platform === 'win32' ? win32 : posix;
}

/** Returns the segments of a path. A drive or a root counts as one. */
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

/** Returns the absolute path of a path that a user typed. On Windows, `nul` in any spelling is the null device. */
export function typedPath(
  path: string,
  { cwd, platform }: { readonly cwd: string; readonly platform: string },
): string {
  const isNullDevice = platform === 'win32' && /^(\\\\\.\\)?nul:?$/i.test(path);
  return isNullDevice ? NULL_DEVICE : pathsOf(platform).resolve(cwd, path);
}

/** Returns whether an absolute path is the null device. */
export function isNullDevice(path: string): boolean {
  return path === '/dev/null' || path === NULL_DEVICE;
}

/** Returns the home directory, which `~/` means, or undefined. */
export function homeIn(env: Readonly<Record<string, string | undefined>>, platform: string): string | undefined {
  return (platform === 'win32' ? env.USERPROFILE : env.HOME) || undefined;
}
