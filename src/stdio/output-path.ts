// What the path of an option that is written to means: a stream, a file, or a directory by mistake.
import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { FilingsError } from '../errors.ts';
import { requireUtf8Path, resolveUserPath, withSlashes } from '../paths.ts';
import type { World } from '../world.ts';

const STANDARD_STREAMS: Readonly<Record<string, number>> = {
  '-': 1,
  '/dev/stdin': 0,
  '/dev/stdout': 1,
  '/dev/stderr': 2,
};

/** Returns the number of the open descriptor that a path means. */
export function findDescriptor(path: string): number | undefined {
  const [, number] = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(path) ?? [];
  return number === undefined ? STANDARD_STREAMS[path] : Number(number);
}

/** Devices, FIFOs and open descriptors are written like stdout. */
export async function isStreamPath(path: string): Promise<boolean> {
  const stats = await statsOf(path);
  if (stats === undefined || stats.isDirectory()) return false;
  const isDevice = stats.isCharacterDevice() || stats.isBlockDevice();
  return isDevice || stats.isFIFO() || findDescriptor(path) !== undefined;
}

/** Returns whether the path may be the terminal that shows the progress. */
export function isTerminalPath(path: string): boolean {
  return findDescriptor(path) === 2 || /^\/dev\/(?:tty|pts\/|console$)/.test(path);
}

/**
 * Returns the absolute path of a file. Throws `usage` if it is a directory, or can only be one because it ends in a
 * separator, which `resolve` removes.
 * `hint` says how to name a directory instead, if that is possible. Throws `local_io` if the path is not UTF-8.
 */
export async function resolveFilePath(
  option: string,
  path: string,
  world: Pick<World, 'cwd' | 'platform' | 'env'>,
  hint = 'add the name of a file to the path',
): Promise<string> {
  const absolute = resolveUserPath(path, world);
  requireUtf8Path(absolute);
  const canBeFile = !/(^|\/)\.{0,2}$/.test(withSlashes(path, world.platform));
  if (canBeFile && !(await statsOf(absolute))?.isDirectory()) return absolute;
  throw new FilingsError('usage', `${option} must be a file, not a directory: ${path}`, { hint });
}

/** Undefined if the path does not exist yet, or cannot be examined: opening it later reports the reason. */
function statsOf(path: string): Promise<Stats | undefined> {
  return stat(path).catch(() => undefined);
}
