import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { privateCacheDirectory } from '../../disk/directory/private-directory.ts';
import type { World } from '../../world.ts';
import { stampOf } from './asker.ts';

/** A filing's files do not change, but what a key may see can. Milliseconds. */
const FRESH_MS = 5 * 60_000;
const MOST_ANSWERS = 32;
/** Names as JSON, every character escaped, and the stamps. Bytes. */
const LARGEST = 4 << 20;

/** The names of a filing's files as the service gave them. */
export interface Answer {
  /** See `askerOf`. */
  readonly asker: string;
  /** The files that say who asked where, with what they were stamped: when one has changed, it is another who asks. */
  readonly stamps: readonly (readonly [path: string, stamp: string])[];
  readonly names: readonly string[];
}

/** The names that were kept for this asker; undefined when there are none, or old ones, or not as they were kept. Never throws. */
export function keptNames(asker: string, world: Pick<World, 'env' | 'uid' | 'now'>): readonly string[] | undefined {
  const directory = privateCacheDirectory('names', world);
  if (directory === undefined) return undefined;
  try {
    const fd = openSync(
      join(directory, fileOf(asker)),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    try {
      const stats = fstatSync(fd);
      const own = stats.isFile() && stats.uid === world.uid && stats.nlink === 1 && (stats.mode & 0o077) === 0;
      if (!own || stats.size > LARGEST || !isFresh(stats.mtimeMs, world.now())) return undefined;
      const answer: Answer = JSON.parse(readFileSync(fd, 'utf8'));
      return answer.asker === asker ? namesIn(answer) : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

function namesIn({ stamps, names }: Answer): readonly string[] | undefined {
  const sound = names.every((name) => typeof name === 'string');
  return sound && stamps.every(([path, stamp]) => stampOf(path) === stamp) ? names : undefined;
}

/** FNV-1a of an asker, in 16 hexadecimal digits: those that share one replace each other, since the file says whose it is. */
function fileOf(asker: string): string {
  const hash = (basis: number) => {
    let value = basis;
    for (const byte of Buffer.from(asker)) value = Math.imul(value ^ byte, 0x01000193);
    return (value >>> 0).toString(16).padStart(8, '0');
  };
  return `${hash(0x811c9dc5)}${hash(0x01000193)}`;
}

/** A clock that was set back makes none fresh for longer. */
function isFresh(time: number, now: number): boolean {
  return time <= now + 1000 && now - time < FRESH_MS;
}

/** Keeps an answer, whole or not at all, and drops old ones. Where that can't be done, nothing is kept. */
export function keepAnswer(answer: Answer, world: Pick<World, 'env' | 'uid' | 'now' | 'pid'>): void {
  const text = JSON.stringify(answer);
  const directory = privateCacheDirectory('names', world);
  if (directory === undefined || Buffer.byteLength(text) > LARGEST) return;
  const path = join(directory, fileOf(answer.asker));
  const temporary = `${path}.${world.pid}`;
  try {
    makeRoom(directory, world.now());
    // One of that name is of a dead process.
    unlinkIfThere(temporary);
    writeFileSync(temporary, text, { flag: 'wx', mode: 0o600 });
    renameSync(temporary, path);
  } catch {
    unlinkIfThere(temporary);
  }
}

/** Old ones go, whole or not; of the others the oldest, so that the new one is not one too many. */
function makeRoom(directory: string, now: number): void {
  const found = readdirSync(directory)
    .map((name) => ({ path: join(directory, name), time: timeOf(join(directory, name)) }))
    .sort((one, other) => other.time - one.time);
  const fresh = found.filter(({ time }) => isFresh(time, now)).slice(0, MOST_ANSWERS - 1);
  for (const one of found) if (!fresh.includes(one)) unlinkIfThere(one.path);
}

function timeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It went by itself, or it stays.
  }
}
