import { lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { errnoOf } from '../../errors.ts';
import type { World } from '../../world.ts';

/**
 * `filings/NAME` in the user's cache directory (XDG Base Directory Specification), 0700, made if missing. Undefined where
 * anybody else has a hand in the path: what is read there is believed. As `bin/compile-cache.js` has it.
 */
export function privateCacheDirectory(name: string, { env, uid }: Pick<World, 'env' | 'uid'>): string | undefined {
  const { XDG_CACHE_HOME: xdg = '', HOME: home = '' } = env;
  const base = isAbsolute(xdg) ? xdg : isAbsolute(home) ? join(home, '.cache') : undefined;
  if (base === undefined || uid === undefined) return undefined;
  try {
    make(base, uid);
    const real = realpathSync(base);
    const own = [join(real, 'filings'), join(real, 'filings', name)];
    for (const path of own) make(path, uid);
    return own.every((path) => isPrivate(path, uid)) && isTrusted(real, uid) ? own[1] : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Where it is missing, and not in another's place: root with a user's HOME must not leave there what the user can't enter.
 * Not with what is missing above it: Node's recursive mkdir never returns on a path such as /proc/nope.
 */
function make(path: string, uid: number): void {
  if (lstatSync(path, { throwIfNoEntry: false }) || !isTrusted(realpathSync(dirname(path)), uid)) return;
  try {
    mkdirSync(path, 0o700);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
}

function isPrivate(path: string, uid: number): boolean {
  const stats = lstatSync(path);
  return stats.isDirectory() && stats.uid === uid && (stats.mode & 0o077) === 0;
}

/** Whether nobody but the user and root can put another directory in the place of one on the way to the root. */
function isTrusted(path: string, uid: number): boolean {
  const { mode, uid: owner } = lstatSync(path);
  const replaceable = (mode & 0o022) !== 0 && (mode & 0o1000) === 0;
  if (replaceable || (owner !== uid && owner !== 0)) return false;
  return path === '/' || isTrusted(dirname(path), uid);
}
