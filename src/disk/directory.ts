// The directories that a run writes to. Each is opened once: links below the user's directory are refused, and all
// files of a directory share its flushes. A file is durable only if its own bytes, its entry and the entries of all new
// directories above it are flushed.
import { existsSync, lstatSync, type Stats, statSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import { type Names, namesOn } from './calls.ts';
import { diskError, withDiskError } from './failure.ts';
import { flushDirectory, makeDirectories, makeDirectory } from './make-directories.ts';
import { isPartName } from './part-name.ts';

/** The age at which a part that nobody writes to is removed. Milliseconds. */
const MIN_ABANDONED_AGE_MS = 86_400_000;
/** Bounds the memory of a run with many directories. A directory that was dropped is opened again when it is needed. */
const MAX_OPEN = 1024;

/** The path of a directory, in two parts with different rules. */
export interface DirectoryLocation {
  /** The absolute path that the user named. Symbolic links in it are followed. */
  readonly directory: string;
  /**
   * A relative path of safe names below `directory`. No symbolic link in it is followed, and missing directories are
   * created. Undefined: `directory` itself, which must exist, as for the shell's `>`.
   */
  readonly below: string | undefined;
}

/** An open directory. */
export class Directory {
  /** The absolute path. */
  readonly path: string;
  /** Flushes the entries of the directories above this one. Undefined when done. */
  #above: Promise<unknown> | undefined;
  /** Whether the entries that were there when this run came are surely on the disk. */
  #isFlushed: boolean;
  /** Whether killed runs may have left parts here. */
  #mayHaveParts: boolean;
  /** Stays rejected after one failure: the kernel reports a failure only once, so another flush would succeed. */
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(path: string, isNew: boolean, above: Promise<unknown> | undefined) {
    this.path = path;
    this.#isFlushed = isNew;
    this.#mayHaveParts = !isNew;
    this.#above = above;
    // Each file of the directory awaits a failure itself.
    above?.then(
      () => {
        this.#above = undefined;
      },
      () => {},
    );
  }

  /**
   * Removes the parts of killed runs: those that are a day older than a part that this run has just created here. The
   * clock of this machine may differ from that of a network disk, so it decides nothing. Throws the system error.
   */
  async removeAbandoned(createdMs: number, names: Names): Promise<void> {
    if (!this.#mayHaveParts) return;
    this.#mayHaveParts = false;
    // Never has all names of a large directory in memory.
    for await (const { name } of await opendir(this.path, { bufferSize: 1024 })) {
      const path = `${this.path}${sep}${name}`;
      const stats = isPartName(name) ? lstatSync(path, { throwIfNoEntry: false }) : undefined;
      if (stats && createdMs - stats.mtimeMs >= MIN_ABANDONED_AGE_MS) await names.remove(path).catch(() => {});
    }
  }

  /** Waits for a flush of all entries that starts after this call; callers share it. Throws `local_io`. */
  async flush(): Promise<void> {
    if (!this.#next) {
      this.#next = this.#last.then(() => {
        this.#next = undefined;
        return withDiskError(this.path, () => flushDirectory(this.path));
      });
      this.#last = this.#next;
    }
    await this.#next;
    this.#isFlushed = true;
    await this.#above;
  }

  /** Whether all existing files are surely on the disk. */
  get isSettled(): boolean {
    return this.#isFlushed && this.#above === undefined;
  }

  /** Makes existing files durable: another run may have named them just now, and not flushed them. */
  async settle(): Promise<void> {
    if (!this.#isFlushed) await this.flush();
    await this.#above;
  }
}

/** What the directories of a run, and the parts in them, need of the world. */
type DirectoryWorld = Pick<World, 'cwd' | 'platform' | 'uid' | 'now' | 'random' | 'sleep'>;

/** The directories of a run. */
export class Directories {
  readonly names: Names;
  readonly world: DirectoryWorld;
  /** The number of bytes in the parts that this run keeps for a later one. */
  keptBytes = 0;
  readonly #opened = new Map<string, Directory>();

  constructor(world: DirectoryWorld) {
    this.world = world;
    this.names = namesOn(world);
  }

  /** Opens or creates a directory. Throws `local_io`, for this file alone if something else has the directory's name. */
  open(location: DirectoryLocation): Directory {
    const known = this.getIfOpen(location);
    if (known) return known;
    const opened = this.#open(location);
    this.#opened.set(keyOf(location), opened);
    const [oldest = ''] = this.#opened.keys();
    if (this.#opened.size > MAX_OPEN) this.#opened.delete(oldest);
    return opened;
  }

  /** Returns undefined if the directory is not open yet. */
  getIfOpen(location: DirectoryLocation): Directory | undefined {
    return this.#opened.get(keyOf(location));
  }

  /** Opens a directory, unless it must be created first. Throws the errors of `open`. */
  openExisting(location: DirectoryLocation): Directory | undefined {
    const { directory, below } = location;
    return below === undefined || existsSync(join(directory, below)) ? this.open(location) : undefined;
  }

  #open({ directory, below }: DirectoryLocation): Directory {
    const isRoot = below === undefined || below === '.';
    const parent = isRoot ? undefined : this.open({ directory, below: dirname(below) });
    const path = parent ? join(parent.path, basename(below ?? '')) : directory;
    try {
      if (!parent) return this.#openRoot(path, below !== undefined);
      const isNew = !lstatSync(path, { throwIfNoEntry: false }) && makeDirectory(path);
      requireDirectory(path, lstatSync(path));
      return new Directory(path, isNew, isNew ? parent.flush() : parent.settle());
    } catch (error) {
      throw diskError(error, path);
    }
  }

  #openRoot(path: string, canCreate: boolean): Directory {
    const made = canCreate ? makeDirectories(path) : [];
    // The final `/.` makes the call fail for anything but a directory, except on Windows.
    requireDirectory(path, statSync(`${path}/.`));
    if (made.length > 0) return new Directory(path, true, flushEntries(made));
    // The working directory was there before. A parent that this user may not read cannot be flushed.
    const wasThere = !canCreate || path === this.world.cwd;
    return new Directory(path, false, wasThere ? undefined : flushEntries([path]).catch(() => {}));
  }
}

/** Flushes the entries of directories. Throws `local_io`. */
async function flushEntries(paths: readonly string[]): Promise<void> {
  for (const path of paths) await withDiskError(path, () => flushDirectory(dirname(path)));
}

/** Joins both paths with a NUL, which no path contains. */
function keyOf({ directory, below = '' }: DirectoryLocation): string {
  return `${directory}\0${below}`;
}

function requireDirectory(path: string, stats: Stats): void {
  if (stats.isDirectory()) return;
  const kind = stats.isSymbolicLink() ? 'a link' : 'not a directory';
  throw new FilingsError('local_io', `cannot write there: it is ${kind}`, {
    subject: { path },
    hint: 'remove it, or choose another directory with --directory',
  });
}
