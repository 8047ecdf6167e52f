import { randomBytes } from 'node:crypto';
import { type FileHandle, link, lstat, open, rename, unlink } from 'node:fs/promises';
import { sleep } from '../../abort.ts';
import { errnoOf, FilingsError } from '../../errors.ts';
import { lockNameOf, rewriteNameOf } from './sums-name.ts';

/** A holder touches its lock so often, in milliseconds; */
const TOUCH_MS = 5_000;
/** untouched for so long, by the file system's clock, it is a dead process's. */
export const ABANDONED_MS = 60_000;
const POLL_MS = 100;

/** The path of an entry of the directory, for system calls. */
export type EntryPath = (name: string) => string | Buffer;

/**
 * Lets one process alone rewrite a checksum file: a file beside it, which its holder touches. What a dead process left is
 * told by the touches that don't come, whatever machine or container it was on.
 */
export class RewriteLock {
  readonly #path: string | Buffer;
  readonly #file: FileHandle;
  readonly #inode: bigint;
  readonly #touching: NodeJS.Timeout;

  private constructor(path: string | Buffer, file: FileHandle, inode: bigint) {
    this.#path = path;
    this.#file = file;
    this.#inode = inode;
    this.#touching = setInterval(() => void file.write('.', 0).catch(() => {}), TOUCH_MS).unref();
  }

  /** Waits until nobody else holds it. Throws the signal's reason, what the file system says. */
  static async take(sums: string, entry: EntryPath, signal: AbortSignal): Promise<RewriteLock> {
    const path = entry(lockNameOf(sums));
    for (;;) {
      signal.throwIfAborted();
      const file = await open(path, 'wx', 0o600).catch((error) => {
        if (errnoOf(error) === 'EEXIST') return undefined;
        throw error;
      });
      if (file !== undefined) return new RewriteLock(path, file, (await file.stat({ bigint: true })).ino);
      if (!(await breakAbandoned(path, sums, entry))) await sleep(POLL_MS, signal);
    }
  }

  /** Throws `local_io` when it was taken for a dead process's lock, as after a long stop. */
  async requireHeld(shown: string): Promise<void> {
    if ((await inodeAt(this.#path)) === this.#inode) return;
    throw new FilingsError('local_io', `${shown}: another process began to rewrite it meanwhile`, {
      hint: 'nothing was changed: run it again',
    });
  }

  async release(): Promise<void> {
    clearInterval(this.#touching);
    if ((await inodeAt(this.#path)) === this.#inode) await unlink(this.#path).catch(() => {});
    await this.#file.close();
  }
}

/** True when the lock is gone. */
async function breakAbandoned(path: string | Buffer, sums: string, entry: EntryPath): Promise<boolean> {
  const lock = await lstat(path, { bigint: true }).catch(() => undefined);
  if (lock === undefined) return true;
  const aside = entry(rewriteNameOf(sums, randomBytes(6).toString('hex')));
  const now = await fileSystemTime(aside);
  if (now - lock.mtimeMs < ABANDONED_MS) return false;
  // The rename takes whatever stands there by now: a lock that somebody has taken since is put back.
  await rename(path, aside).catch(() => {});
  const taken = await inodeAt(aside);
  if (taken !== undefined && taken !== lock.ino) await link(aside, path).catch(() => {});
  await unlink(aside).catch(() => {});
  return true;
}

/** What the file system takes for now, in milliseconds since the epoch: another machine's clock may keep it. */
async function fileSystemTime(free: string | Buffer): Promise<bigint> {
  const probe = await open(free, 'wx', 0o600);
  try {
    return (await probe.stat({ bigint: true })).mtimeMs;
  } finally {
    await probe.close();
    await unlink(free);
  }
}

async function inodeAt(path: string | Buffer): Promise<bigint | undefined> {
  return lstat(path, { bigint: true }).then(
    ({ ino }) => ino,
    () => undefined,
  );
}
