// Paths as the platform writes them. Every decision about separators, the home directory and the null device is made here,
// by the name of the platform, so that the tables of Windows are tested everywhere.
import { posix, win32 } from 'node:path';

const NULL_DEVICE = '\\\\.\\NUL';

/** Returns the path functions of a platform. */
export function pathsOf(platform: string): typeof posix {
  return platform === 'win32' ? win32 : posix;
}

/** Returns the names of a path; a drive and a root count as one. */
export function segmentsOf(path: string, platform: string): readonly string[] {
  return withSlashes(path, platform).split('/');
}

/** Returns a path with slashes, as reports and findings have it. */
export function withSlashes(path: string, platform: string): string {
  return platform === 'win32' ? path.replaceAll('\\', '/') : path;
}

/** Returns a relative path with slashes, such as a layout makes, as the platform writes it. */
export function nativePath(path: string, platform: string): string {
  return platform === 'win32' ? path.replaceAll('/', '\\') : path;
}

/** Returns the absolute path that a person means, who may name the null device of Windows. */
export function typedPath(
  path: string,
  { cwd, platform }: { readonly cwd: string; readonly platform: string },
): string {
  const isNullDevice = platform === 'win32' && /^(\\\\\.\\)?nul:?$/i.test(path);
  return isNullDevice ? NULL_DEVICE : pathsOf(platform).resolve(cwd, path);
}

/** Whether an absolute path names the null device. */
export function isNullDevice(path: string): boolean {
  return path === '/dev/null' || path === NULL_DEVICE;
}

/** Returns the path that `~/` stands for, if there is one. */
export function homeIn(env: Readonly<Record<string, string | undefined>>, platform: string): string | undefined {
  return (platform === 'win32' ? env.USERPROFILE : env.HOME) || undefined;
}
