// The directories that a run writes to. Each is opened once: links below the user's directory are refused, the parts of
// earlier runs are noted, and all files of a directory share its flushes. A file is durable only if its own bytes,
// its entry and the entries of all new directories above it are flushed.
import { lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { basename, dirname, sep } from 'node:path';
import { FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import { type Names, namesOn } from './calls.ts';
import { withDiskError } from './failure.ts';
import { flushDirectory, makeDirectories, makeDirectory } from './make-directories.ts';
import { isKeptName, isPartName, keptName } from './part-name.ts';

/** The age at which a file system has surely written a change, even without a flush. Milliseconds. */
const MIN_WRITTEN_AGE_MS = 600_000;
/** The age at which a part that nobody writes to is removed. Milliseconds. */
const MIN_ABANDONED_AGE_MS = 86_400_000;
/** The largest directory that is read by one call, in bytes. This is some thousand entries on most file systems. */
const MAX_SYNC_READ_BYTES = 64 << 10;
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
  /** Flushes the entries of this directory and of those above it. Undefined when done. */
  #above: Promise<unknown> | undefined;
  /** Whether the entries that were there when this run came are surely on the disk. */
  #isWritten: boolean;
  /** The names of the parts that ended runs kept. */
  readonly #kept = new Set<string>();
  /** The names of the parts that other runs are writing, or were writing when they were killed. */
  #parts: readonly string[] = [];
  /** Stays rejected after one failure: the kernel reports a failure only once, so another flush would succeed. */
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(path: string, hidden: HiddenNames, isWritten: boolean, above: Promise<unknown> | undefined) {
    this.path = path;
    for (const name of hidden.kept) this.#kept.add(name.normalize());
    this.#parts = hidden.parts;
    this.#isWritten = isWritten;
    this.#above = above;
    // Each file of the directory awaits a failure itself.
    above?.then(
      () => {
        this.#above = undefined;
      },
      () => {},
    );
  }

  /** Returns the absolute path of an entry. */
  pathFor(name: string): string {
    return `${this.path}${sep}${name}`;
  }

  /** Returns whether there may be a kept part of this final name. */
  hasKept(finalName: string): boolean {
    // HFS+ returns names in another form of Unicode (NFD) than that in which they were created.
    return this.#kept.size > 0 && this.#kept.has(keptName(finalName).normalize());
  }

  addKept(finalName: string): void {
    this.#kept.add(keptName(finalName).normalize());
  }

  /** Returns whether there may be a kept part of this final name, for one caller alone. */
  takeKept(finalName: string): boolean {
    return this.hasKept(finalName) && this.#kept.delete(keptName(finalName).normalize());
  }

  /**
   * Removes the parts of killed runs: those that are a day older than a part that this run has just created here. The
   * clock of this machine may differ from that of a network disk, so it decides nothing.
   */
  async removeAbandoned(createdMs: number, names: Names): Promise<void> {
    const parts = this.#parts;
    this.#parts = [];
    for (const name of parts) {
      const stats = lstatSync(this.pathFor(name), { throwIfNoEntry: false });
      if (!stats || createdMs - stats.mtimeMs < MIN_ABANDONED_AGE_MS) continue;
      await names.remove(this.pathFor(name)).catch(() => {});
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
    this.#isWritten = true;
    await this.#above;
  }

  /** Whether all existing files are surely on the disk. */
  get isSettled(): boolean {
    return this.#isWritten && this.#above === undefined;
  }

  /** Makes existing files durable: another run may have named them just now, and not flushed them. */
  async settle(): Promise<void> {
    if (!this.#isWritten) await this.flush();
    await this.#above;
  }
}

/** What the directories of a run, and the parts in them, need of the world. */
type DirectoryWorld = Pick<World, 'cwd' | 'platform' | 'uid' | 'now' | 'random' | 'sleep'>;

interface HiddenNames {
  readonly kept: readonly string[];
  readonly parts: readonly string[];
}

/** The directories of a run. */
export class Directories {
  readonly names: Names;
  readonly world: DirectoryWorld;
  /** The number of bytes in the parts that this run keeps for a later one. */
  keptBytes = 0;
  readonly #cache = new Map<string, Directory | Promise<Directory>>();

  constructor(world: DirectoryWorld) {
    this.world = world;
    this.names = namesOn(world);
  }

  /** Opens or creates a directory. Throws `local_io`, for this file alone if something else has the directory's name. */
  async open(location: DirectoryLocation): Promise<Directory> {
    const key = keyOf(location);
    const opening = this.#cache.get(key) ?? this.#open(location);
    this.#cache.set(key, opening);
    const [oldest = ''] = this.#cache.keys();
    if (this.#cache.size > MAX_OPEN) this.#cache.delete(oldest);
    try {
      const opened = await opening;
      if (this.#cache.get(key) === opening) this.#cache.set(key, opened);
      return opened;
    } catch (error) {
      this.#cache.delete(key);
      throw error;
    }
  }

  /** Returns undefined if the directory is not open yet. */
  getIfOpen(location: DirectoryLocation): Directory | undefined {
    const cached = this.#cache.get(keyOf(location));
    return cached instanceof Promise ? undefined : cached;
  }

  /** Opens a directory if it exists, and creates none. Throws the errors of `open`. */
  async openExisting(location: DirectoryLocation): Promise<Directory | undefined> {
    const { directory, below } = location;
    if (this.#cache.has(keyOf(location)) || below === undefined || below === '.') return this.open(location);
    const parent = await this.openExisting({ directory, below: dirname(below) });
    const path = parent?.pathFor(basename(below)) ?? '';
    const exists = parent && (await withDiskError(path, async () => lstatSync(path, { throwIfNoEntry: false })));
    return exists ? this.open(location) : undefined;
  }

  async #open({ directory, below }: DirectoryLocation): Promise<Directory> {
    if (below === undefined || below === '.') return this.#openRoot(directory, below !== undefined);
    const parent = await this.open({ directory, below: dirname(below) });
    const path = parent.pathFor(basename(below));
    return withDiskError(path, async () => {
      const before = lstatSync(path, { throwIfNoEntry: false });
      if (!before && (await makeDirectory(path))) return new Directory(path, NOTHING_HIDDEN, true, parent.flush());
      return this.#enter(path, before ?? lstatSync(path), parent.isSettled ? undefined : parent.settle());
    });
  }

  #openRoot(path: string, canCreate: boolean): Promise<Directory> {
    return withDiskError(path, async () => {
      if (canCreate) await makeDirectories(path);
      // The final `/.` makes the call fail for anything but a directory, except on Windows.
      const stats = statSync(`${path}/.`);
      // The working directory was there before. A parent that this user may not read cannot be flushed.
      const isAboveWritten = !canCreate || path === this.world.cwd || this.#isOld(statSync(dirname(path)));
      const above = isAboveWritten ? undefined : flushDirectory(dirname(path)).catch(() => {});
      return this.#enter(path, stats, above);
    });
  }

  async #enter(path: string, stats: Stats, above: Promise<unknown> | undefined): Promise<Directory> {
    if (!stats.isDirectory()) throw notADirectory(path, stats);
    const hidden = await hiddenNames(path).catch(() => NOTHING_HIDDEN);
    return new Directory(path, hidden, this.#isOld(stats), above);
  }

  /** Returns whether the last change of a directory is on the disk, so that skipping a million files costs little. */
  #isOld({ mtimeMs }: Stats): boolean {
    return this.world.now() - mtimeMs >= MIN_WRITTEN_AGE_MS;
  }
}

const NOTHING_HIDDEN: HiddenNames = { kept: [], parts: [] };

/** Returns the names of the parts in a directory. Throws the system error. */
async function hiddenNames(path: string): Promise<HiddenNames> {
  const [kept, parts]: [string[], string[]] = [[], []];
  for await (const name of entriesOf(path)) {
    if (isKeptName(name)) kept.push(name);
    else if (isPartName(name)) parts.push(name);
  }
  return { kept, parts };
}

/** Yields the names of all entries, and never has all names of a large directory in memory. */
async function* entriesOf(path: string): AsyncGenerator<string> {
  if (statSync(path).size <= MAX_SYNC_READ_BYTES) yield* readdirSync(path);
  else for await (const { name } of await opendir(path, { bufferSize: 1024 })) yield name;
}

/** Joins both paths with a NUL, which no path contains. */
function keyOf({ directory, below = '' }: DirectoryLocation): string {
  return `${directory}\0${below}`;
}

function notADirectory(path: string, stats: Stats): FilingsError {
  const kind = stats.isSymbolicLink() ? 'a link' : 'not a directory';
  return new FilingsError('local_io', `cannot write there: it is ${kind}`, {
    subject: { path },
    hint: 'remove it, or choose another directory with --directory',
  });
}
