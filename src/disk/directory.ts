// The directories that one run writes to. Each is checked or created before its first file: a symbolic link below the
// directory that the user named is refused. Then it is remembered, so that all files in it share its flushes.
//
// A file survives a power cut only if three things have been flushed: its own bytes (see `output-file.ts`), its entry
// in its directory, and the entries of all new directories above it. The flushes here are those of entries.
import { accessSync, constants, existsSync, lstatSync, type Stats, statSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf, FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import { createNameOperations, type NameOperations } from './calls.ts';
import { goneDirectoryError, isSystemError, mapWriteErrors, toWriteError } from './failure.ts';
import { flushDirectory, makeDirectories, makeDirectory } from './make-directories.ts';
import { isRefusedName, isWorkingPartName, refusedNameError } from './part-name.ts';
import { SharedFlush } from './shared-flush.ts';

/** A working part so much older than a new one was left by a killed run: one that still downloads writes more often. */
const MIN_ABANDONED_AGE_MS = 86_400_000;
/** Bounds the memory of a run with many directories. A forgotten directory is checked and flushed again when needed. */
const MAX_REMEMBERED = 1024;

/** The path of a directory in two pieces, because different rules apply to them. */
export interface DirectoryLocation {
  /** The absolute path that the user named. Symbolic links in it are followed. */
  readonly directory: string;
  /**
   * A relative path of safe names below `directory`, or `.` for `directory` itself. No symbolic link in it is followed,
   * and missing directories are created.
   */
  readonly below: string;
  /** Whether `directory` is never created. That is the rule for `-o PATH`, as for the shell's `> PATH`. */
  readonly mustExist?: boolean;
}

/** A directory that this run has checked or created. */
export class Directory {
  readonly path: string;
  /** Whether this run has found that it may create files here. */
  isWritable = false;
  /** The running or failed flush of the directories above this one. Undefined once it has succeeded. */
  #flushingAncestors: Promise<unknown> | undefined;
  /** Whether the entries from before this run are flushed. True at once in a directory that is new. */
  #areOldEntriesFlushed: boolean;
  /** False once `removeAbandonedParts` has been called, and in a directory that is new. */
  #mayHoldAbandonedParts: boolean;
  readonly #flush = new SharedFlush(() => flushEntries(this.path));

  constructor(path: string, isNew: boolean, flushingAncestors: Promise<unknown> | undefined) {
    this.path = path;
    this.#areOldEntriesFlushed = isNew;
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
   * At the first call, removes the parts that killed runs have left. `newPartMtimeMs` is the modification time of a
   * part that this run has just written here: on a network file system, the clock of the server sets all these times.
   */
  async removeAbandonedParts(newPartMtimeMs: number, nameOperations: NameOperations): Promise<void> {
    if (!this.#mayHoldAbandonedParts) return;
    this.#mayHoldAbandonedParts = false;
    // Not `readdir`, which would hold all names of a large directory in memory.
    for await (const { name } of await opendir(this.path, { bufferSize: 1024 })) {
      if (!isWorkingPartName(name)) continue;
      const path = join(this.path, name);
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats && newPartMtimeMs - stats.mtimeMs >= MIN_ABANDONED_AGE_MS)
        await nameOperations.remove(path).catch(() => {});
    }
  }

  /** Makes all current entries durable, by a flush that starts after this call. */
  async flush(): Promise<void> {
    await this.#flush.run();
    this.#areOldEntriesFlushed = true;
    await this.#flushingAncestors;
  }

  /** Whether `flushExistingEntries` has nothing to do, so that a caller need not wait for it. */
  get areExistingEntriesFlushed(): boolean {
    return this.#areOldEntriesFlushed && this.#flushingAncestors === undefined;
  }

  /** For the entries from before this run: another run may have added them a moment ago and died before its flush. */
  async flushExistingEntries(): Promise<void> {
    if (!this.#areOldEntriesFlushed) await this.flush();
    await this.#flushingAncestors;
  }
}

/** The directories of a run, and the operations on the names in them. */
export class Directories {
  readonly nameOperations: NameOperations;
  readonly #cwd: string;
  /** By the key of the location (see `toKey`). */
  readonly #remembered = new Map<string, Directory>();
  /** Why nothing can be written to a directory, by the same keys. */
  readonly #failures = new Map<string, FilingsError>();

  constructor(world: Pick<World, 'cwd' | 'platform' | 'sleep'>) {
    this.#cwd = world.cwd;
    this.nameOperations = createNameOperations(world);
  }

  /** Checks or creates a directory, unless it is remembered. Throws the errors of `#rememberFailure`. */
  prepare(location: DirectoryLocation): Directory {
    const known = this.getRemembered(location);
    if (known) return known;
    const prepared = this.#prepare(location);
    this.#remembered.set(toKey(location), prepared);
    // With the oldest directory, the failure of its flush may be forgotten. But such a failure ends the run.
    const [oldest = ''] = this.#remembered.keys();
    if (this.#remembered.size > MAX_REMEMBERED) this.#remembered.delete(oldest);
    return prepared;
  }

  getRemembered(location: DirectoryLocation): Directory | undefined {
    return this.#remembered.get(toKey(location));
  }

  /**
   * Call this before a file is requested. Returns its directory, or undefined if it is missing: then it is created when
   * the response has begun. Throws if an earlier file could not be written there, or if this user may not create files
   * in the directory or, if it is missing, in the next one above it.
   */
  requireWritable(location: DirectoryLocation): Directory | undefined {
    const failure = this.#failures.get(toKey(location));
    if (failure) throw failure;
    const known = this.getRemembered(location);
    if (known?.isWritable) return known;
    const { directory, below } = location;
    // A link that leads nowhere is treated as missing.
    if (below !== '.' && !existsSync(join(directory, below))) {
      this.requireWritable({ ...location, below: dirname(below) });
      return undefined;
    }
    const prepared = this.prepare(location);
    try {
      // Readable as well, because a flush opens it.
      accessSync(prepared.path, constants.R_OK | constants.W_OK | constants.X_OK);
    } catch (error) {
      throw this.#rememberFailure(location, toWriteError(error, prepared.path));
    }
    prepared.isWritable = true;
    return prepared;
  }

  /**
   * Remembers that nothing can be written to a directory, so that no further file of it is requested. The error stops
   * the run if the directory is the one that the user named.
   */
  #rememberFailure(location: DirectoryLocation, error: unknown): unknown {
    if (!(error instanceof FilingsError)) return error;
    const { directory, below } = location;
    const stopsRun = error.stopsRun || below === '.';
    const failure = error.with({ failedDirectory: join(directory, below), stopsRun });
    this.#failures.set(toKey(location), failure);
    return failure;
  }

  /**
   * Returns the error for a file that could not be created. The file system may have refused its name, which is `path`:
   * exFAT does so with ENOENT. Otherwise nothing can be written to the directory.
   */
  toCreateError(error: unknown, path: string, location: DirectoryLocation): unknown {
    const failure = this.toRenameError(error, path, location);
    if (!(failure instanceof FilingsError) || failure.stopsRun || failure.failedDirectory !== undefined) return failure;
    if (isRefusedName(error) || errnoOf(error) === 'ENOENT') return refusedNameError(path, error);
    return this.#rememberFailure(location, toWriteError(error, dirname(path)));
  }

  /** Returns the error for a file that could not get its name, `path`. It is about the directory only if that is gone. */
  toRenameError(error: unknown, path: string, location: DirectoryLocation): unknown {
    if (isRefusedName(error)) return refusedNameError(path, error);
    return isSystemError(error) && !existsSync(dirname(path)) ? this.#goneError(location) : toWriteError(error, path);
  }

  /** If even the directory that the user named is gone, no other file can be written either. */
  #goneError(location: DirectoryLocation): unknown {
    const { directory, below } = location;
    const isRootGone = !existsSync(directory);
    const gone = goneDirectoryError(isRootGone ? directory : join(directory, below));
    return this.#rememberFailure(isRootGone ? { directory, below: '.' } : location, gone);
  }

  #prepare(location: DirectoryLocation): Directory {
    const { directory, below, mustExist = false } = location;
    const path = join(directory, below);
    try {
      if (below === '.') return prepareRoot(directory, mustExist, this.#cwd);
      const parent = this.prepare({ ...location, below: dirname(below) });
      // If another process creates the directory in between, `makeDirectory` returns false, so it is not new.
      const isNew = !lstatSync(path, { throwIfNoEntry: false }) && makeDirectory(path);
      requireDirectory(path, lstatSync(path));
      return new Directory(path, isNew, isNew ? parent.flush() : parent.flushExistingEntries());
    } catch (error) {
      const isRootGone = this.#remembered.has(toKey({ directory, below: '.' })) && !existsSync(directory);
      throw isRootGone ? this.#goneError(location) : this.#rememberFailure(location, toWriteError(error, path));
    }
  }
}

/** Checks or creates the directory that the user named. */
function prepareRoot(path: string, mustExist: boolean, cwd: string): Directory {
  const made = mustExist ? [] : makeDirectories(path);
  requireDirectory(path, statSync(path));
  if (made.length > 0) return new Directory(path, true, flushParentsOf(made));
  // Another run may have created the directory a moment ago and not flushed its entry. The working directory, and one
  // that must exist, need no flush: they were there before this command. An error of the flush is ignored, because
  // the user may not be allowed to read the parent.
  const wasThere = mustExist || path === cwd;
  return new Directory(path, false, wasThere ? undefined : flushParentsOf([path]).catch(() => {}));
}

async function flushParentsOf(directories: readonly string[]): Promise<void> {
  for (const path of directories) await flushEntries(dirname(path));
}

function flushEntries(path: string): Promise<void> {
  return mapWriteErrors(path, () => flushDirectory(path));
}

/** No path contains a NUL. */
function toKey({ directory, below }: DirectoryLocation): string {
  return `${directory}\0${below}`;
}

function requireDirectory(path: string, stats: Stats): void {
  if (stats.isDirectory()) return;
  const kind = stats.isSymbolicLink() ? 'a symbolic link' : 'not a directory';
  const hint = 'remove it, or choose another directory';
  throw new FilingsError('local_io', `cannot write: it is ${kind}`, { subject: { path }, hint });
}
