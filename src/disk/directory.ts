// The directories that one run writes to. Each is checked or created before its first file: a symbolic link below the
// directory that the user named is refused. Then it is remembered, so that all files in it share its flushes.
//
// A file survives a power cut only if three things have been flushed: its own bytes (see `output-file.ts`), its entry
// in its directory, and the entries of all new directories above it. The flushes here are those of entries.
import { accessSync, constants, existsSync, fstatSync, lstatSync, type Stats, statSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf, FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import {
  createNameOperations,
  flushDirectory,
  makeDirectories,
  makeDirectory,
  type NameOperations,
  openDirectory,
} from './calls.ts';
import { goneDirectoryError, isSystemError, mapWriteErrors, toWriteError } from './failure.ts';
import { isNameRefusal, nameRefusalError } from './file-name.ts';
import { isWorkingPartName } from './part-name.ts';
import { createSharedFlush } from './shared-flush.ts';

/** A working part so much older than a new one was left by a killed run: one that still downloads writes more often. */
const MIN_ABANDONED_AGE_MS = 86_400_000;
/** Bounds the memory of a run with many directories. A forgotten directory is checked and flushed again when needed. */
const MAX_REMEMBERED = 1024;

/** A directory that this run has checked or created. */
export class Directory {
  readonly path: string;
  /** Whether this run has found that it may create files here. */
  isWritable = false;
  /** The running or failed flush of the directories above this one. Undefined once it has succeeded. */
  #flushingAncestors: Promise<unknown> | undefined;
  /** Whether the entries from before this run are flushed. True at once in a directory that is new. */
  #areExistingEntriesFlushed: boolean;
  /** False once `removeAbandonedParts` has been called, and in a directory that is new. */
  #mayHoldAbandonedParts: boolean;
  readonly #flush = createSharedFlush(() => flushEntries(this.path));

  constructor(path: string, isNew: boolean, flushingAncestors: Promise<unknown> | undefined) {
    this.path = path;
    this.#areExistingEntriesFlushed = isNew;
    this.#mayHoldAbandonedParts = !isNew;
    this.#flushingAncestors = flushingAncestors;
    // Without a handler here, Node would end the program. Each file that awaits the promise reports the failure.
    flushingAncestors?.then(
      () => {
        this.#flushingAncestors = undefined;
      },
      () => {},
    );
  }

  /**
   * At the first call, removes the parts that killed runs have left. Their modification times are compared with that of
   * a part that this run has just written here: on a network file system, the clock of the server sets all these times.
   */
  async removeAbandonedParts(newPartFd: number): Promise<void> {
    if (!this.#mayHoldAbandonedParts) return;
    this.#mayHoldAbandonedParts = false;
    const { mtimeMs } = fstatSync(newPartFd);
    for await (const { name } of await openDirectory(this.path)) {
      if (!isWorkingPartName(name)) continue;
      const path = join(this.path, name);
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats && mtimeMs - stats.mtimeMs >= MIN_ABANDONED_AGE_MS) await unlink(path).catch(() => {});
    }
  }

  /** Makes all current entries durable, by a flush that starts after this call. */
  async flush(): Promise<void> {
    await this.#flush();
    this.#areExistingEntriesFlushed = true;
    await this.#flushingAncestors;
  }

  /** Whether `flushExistingEntries` has nothing to do, so that a caller need not wait for it. */
  get areExistingEntriesFlushed(): boolean {
    return this.#areExistingEntriesFlushed && this.#flushingAncestors === undefined;
  }

  /** For the entries from before this run: another run may have added them a moment ago and died before its flush. */
  async flushExistingEntries(): Promise<void> {
    if (!this.#areExistingEntriesFlushed) await this.flush();
    await this.#flushingAncestors;
  }
}

/** The directories of a run, by absolute paths, and the operations on the names in them. */
export class Directories {
  readonly nameOperations: NameOperations;
  readonly #root: string;
  readonly #mayCreateRoot: boolean;
  readonly #cwd: string;
  readonly #remembered = new Map<string, Directory>();
  /** Why nothing can be written to a directory. */
  readonly #failures = new Map<string, FilingsError>();

  /**
   * `root` is the directory that the user named. Symbolic links in its path are followed, but none below it. For
   * `-o PATH`, it is not created, as the shell does not create it for `> PATH`.
   */
  constructor(root: string, mayCreateRoot: boolean, world: Pick<World, 'cwd' | 'platform' | 'sleep'>) {
    this.#root = root;
    this.#mayCreateRoot = mayCreateRoot;
    this.#cwd = world.cwd;
    this.nameOperations = createNameOperations(world);
  }

  /** Checks or creates a directory, unless it is remembered. Throws why nothing can be written there. */
  open(path: string): Directory {
    const known = this.#remembered.get(path);
    if (known) return known;
    const opened = this.#openNew(path);
    this.#remembered.set(path, opened);
    // The first one is the root, which stays. Forgetting another one may forget that its flush failed, but the errors
    // of a broken or full disk end the run anyway.
    const [, oldest = ''] = this.#remembered.keys();
    if (this.#remembered.size > MAX_REMEMBERED) this.#remembered.delete(oldest);
    return opened;
  }

  getRemembered(path: string): Directory | undefined {
    return this.#remembered.get(path);
  }

  /**
   * Returns the directory of a file to request, or undefined if it is missing: then it is created when
   * the response has begun. Throws if an earlier file could not be written there, or if this user may not create files
   * in the directory or, if it is missing, in the next one above it.
   */
  checkBeforeRequest(path: string): Directory | undefined {
    const failure = this.#failures.get(path);
    if (failure) throw failure;
    const known = this.#remembered.get(path);
    if (known?.isWritable) return known;
    // A link that leads nowhere is treated as missing.
    if (path !== this.#root && !existsSync(path)) {
      this.checkBeforeRequest(dirname(path));
      return undefined;
    }
    const opened = this.open(path);
    try {
      // Readable as well, because a flush opens it.
      accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    } catch (error) {
      throw this.#rememberFailure(path, toWriteError(error, path));
    }
    opened.isWritable = true;
    return opened;
  }

  /**
   * Remembers that nothing can be written to a directory, so that no further file of it is requested. The error stops
   * the run if the directory is the one that the user named.
   */
  #rememberFailure(path: string, error: unknown, stopsRun = path === this.#root): unknown {
    if (!(error instanceof FilingsError)) return error;
    const failure = error.with({ failedDirectory: path, stopsRun: error.stopsRun || stopsRun });
    this.#failures.set(path, failure);
    return failure;
  }

  /** Returns the error for a SHA256SUMS that cannot be read or written. Even in the root, it does not stop the run. */
  toSumsError(path: string, error: unknown): unknown {
    return this.#findLoss(path) ?? this.#rememberFailure(path, error, false);
  }

  /**
   * Returns the error for a file that could not be created. The file system may have refused its name, which is `path`:
   * exFAT does so with ENOENT. Otherwise nothing can be written to the directory.
   */
  toCreateError(error: unknown, path: string): unknown {
    const failure = this.toRenameError(error, path);
    if (!(failure instanceof FilingsError) || failure.stopsRun || failure.failedDirectory !== undefined) return failure;
    if (isNameRefusal(error) || errnoOf(error) === 'ENOENT') return nameRefusalError(path, error);
    return this.#rememberFailure(dirname(path), toWriteError(error, dirname(path)));
  }

  /** The error for a file that could not get its name, `path`. It is about the directory only if that is gone. */
  toRenameError(error: unknown, path: string): unknown {
    if (isNameRefusal(error)) return nameRefusalError(path, error);
    return (isSystemError(error) && this.#findLoss(dirname(path))) || toWriteError(error, path);
  }

  /**
   * Returns the error if somebody has moved or removed a directory of this run. If even the root is gone, no other file
   * can be written either.
   */
  #findLoss(path: string): unknown {
    const gone = [this.#root, path].find((known) => this.#remembered.has(known) && !existsSync(known));
    return gone && this.#rememberFailure(gone, goneDirectoryError(gone));
  }

  #openNew(path: string): Directory {
    try {
      if (path === this.#root) return this.#openRoot();
      const parent = this.open(dirname(path));
      // If another process creates the directory in between, `makeDirectory` returns false, so it is not new.
      const isNew = !lstatSync(path, { throwIfNoEntry: false }) && makeDirectory(path);
      requireDirectory(path, lstatSync(path));
      return new Directory(path, isNew, isNew ? parent.flush() : parent.flushExistingEntries());
    } catch (error) {
      throw this.#findLoss(path) ?? this.#rememberFailure(path, toWriteError(error, path));
    }
  }

  #openRoot(): Directory {
    const path = this.#root;
    const made = this.#mayCreateRoot ? makeDirectories(path) : [];
    if (!existsSync(path) && lstatSync(path).isSymbolicLink()) {
      const hint = 'mount the disk to which it leads, or choose another directory';
      throw new FilingsError('local_io', 'cannot write: the symbolic link leads nowhere', { subject: { path }, hint });
    }
    requireDirectory(path, statSync(path));
    if (made.length > 0) return new Directory(path, true, flushParentsOf(made));
    // Another run may have created the directory a moment ago and not flushed its entry. The working directory, and one
    // that must exist, need no flush: they were there before this command. An error of the flush is ignored, because
    // the user may not be allowed to read the parent.
    const wasThere = !this.#mayCreateRoot || path === this.#cwd;
    return new Directory(path, false, wasThere ? undefined : flushParentsOf([path]).catch(() => {}));
  }
}

async function flushParentsOf(directories: readonly string[]): Promise<void> {
  for (const path of directories) await flushEntries(dirname(path));
}

function flushEntries(path: string): Promise<void> {
  return mapWriteErrors(path, () => flushDirectory(path));
}

function requireDirectory(path: string, stats: Stats): void {
  if (stats.isDirectory()) return;
  const kind = stats.isSymbolicLink() ? 'a symbolic link' : 'not a directory';
  const hint = 'remove it, or choose another directory';
  throw new FilingsError('local_io', `cannot write: it is ${kind}`, { subject: { path }, hint });
}
