// Writes one file next to its final name, so that the final name only ever has complete and checked bytes. The order on
// the disk is: part, bytes, flush, final name, flush of the directory. `part-name.ts` has the names.
//
// While a run writes a part, no other run reads it. A run that is stopped may keep it for a later run: it appends a
// footer that says what the bytes are, flushes everything, and only then renames the part to the name of a kept part.
// The later run claims it by renaming it back to a part of its own, which only one run can do. So a kill or a power cut
// leaves a part that is never resumed and that is removed after a day.
import {
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  futimesSync,
  lstatSync,
  openSync,
  type Stats,
} from 'node:fs';
import { createAbortController } from '../abort.ts';
import { closeFile, NEW_FILE } from '../disk/calls.ts';
import type { Directories, Directory, DirectoryLocation } from '../disk/directory.ts';
import { diskError, withDiskError } from '../disk/failure.ts';
import { OutputFile } from '../disk/output-file.ts';
import { keptName, partName } from '../disk/part-name.ts';
import { openPlain } from '../disk/plain-file.ts';
import { sha256OfFile } from '../disk/sha256.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import type { Secrets } from '../secrets.ts';
import { differentFileError, type FileRequest, planFile } from './file-plan.ts';
import { type FooterRequest, makeFooter, readFooter } from './footer.ts';
import { checkExisting } from './hashes.ts';
import type { Placement, Sink } from './job.ts';
import type { RemoteVersion } from './resume.ts';

/** A smaller part is not kept: fetching its bytes again takes no longer than keeping them. */
const MIN_KEPT_BYTES = (1 << 20) + 1;
/** Limits the flush of a part that is kept, because a signal or the deadline may end the run. Milliseconds. */
const MAX_FLUSH_MS = 2000;
/** The errors of `link` on FAT and on some network disks, which have no hard links. */
const NO_LINKS = new Set(['EPERM', 'EISDIR', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV']);

export interface PartTarget {
  readonly directories: Directories;
  readonly location: DirectoryLocation;
  readonly finalName: string;
  readonly request: FooterRequest;
  readonly file: FileRequest;
  readonly secrets: Pick<Secrets, 'holds'>;
  readonly signal: AbortSignal;
}

/** A part that exists. */
interface OpenPart {
  readonly directory: Directory;
  readonly path: string;
  readonly finalPath: string;
  readonly file: OutputFile;
}

export class Part implements Sink {
  readonly isRestartable = true;
  /** The version of the bytes so far. */
  version: RemoteVersion | undefined;
  readonly #target: PartTarget;
  #opened: OpenPart | undefined;
  /** Whether the file may have its final name already, so that nothing more may be written to it. */
  #mayBeNamed = false;

  private constructor(target: PartTarget) {
    this.#target = target;
  }

  /** Claims the part that an ended run kept. Creates nothing: `begin` does that. Throws `local_io`. */
  static async open(target: PartTarget): Promise<Part> {
    const part = new Part(target);
    const directory = await target.directories.openExisting(target.location);
    // A part that cannot be claimed is no reason to fail.
    if (directory?.takeKept(target.finalName)) await part.#claim(directory).catch(() => {});
    return part;
  }

  get bytes(): number {
    return this.#opened?.file.size ?? 0;
  }

  async begin(version: RemoteVersion): Promise<void> {
    this.version = version;
    const { directories, location } = this.#target;
    const opened = this.#opened;
    if (opened) return withDiskError(opened.finalPath, () => opened.file.restart());
    const directory = await directories.open(location);
    const paths = this.#pathsIn(directory);
    await withDiskError(paths.finalPath, async () =>
      this.#use(openSync(paths.path, NEW_FILE, 0o666), directory, paths),
    );
  }

  async write(chunks: readonly Buffer[]): Promise<void> {
    const { file, finalPath } = this.#part;
    await file.write(chunks).catch((error) => {
      throw diskError(error, finalPath);
    });
  }

  sha256(): Promise<string> {
    return withDiskError(this.#part.finalPath, () => this.#part.file.sha256(this.#target.signal));
  }

  finish(): Promise<Placement> {
    const { directory, path, finalPath, file } = this.#part;
    return withDiskError(finalPath, async () => {
      const request = this.#target.file;
      const existing = lstatSync(finalPath, { throwIfNoEntry: false });
      if (request.ifExists === 'overwrite') {
        const plan = planFile(existing, request);
        if (plan.kind === 'fail') throw plan.error;
        if (existing?.isFile()) this.#keepMode(existing);
        await file.flush();
        this.#mayBeNamed = true;
        await this.#names.rename(path, finalPath).catch(this.#refineMissing);
      } else {
        if (existing) return this.#keepExisting(existing);
        await file.flush();
        if (!(await this.#placeNew())) return this.#keepExisting(lstatSync(finalPath));
      }
      await directory.flush();
      await file.close();
      return 'committed';
    });
  }

  /** Gives the part its final name. Returns false if an entry has that name already. */
  async #placeNew(): Promise<boolean> {
    const { path, finalPath } = this.#part;
    this.#mayBeNamed = true;
    try {
      await this.#names.link(path, finalPath);
      await this.#names.remove(path);
    } catch (error) {
      const errno = errnoOf(error) ?? '';
      if (errno === 'EEXIST') return false;
      if (!NO_LINKS.has(errno)) this.#refineMissing(error);
      if (lstatSync(finalPath, { throwIfNoEntry: false })) return false;
      await this.#names.rename(path, finalPath).catch(this.#refineMissing);
    }
    return true;
  }

  /** Rethrows the error of giving the final name. A missing part fails this file alone. */
  readonly #refineMissing = (error: unknown): never => {
    if (errnoOf(error) !== 'ENOENT' || !existsSync(this.#part.directory.path)) throw error;
    throw new FilingsError('temporary', 'something removed its temporary file during the download', {
      subject: { path: this.#target.file.displayPath },
      hint: 'run it again, and see what removes files in that directory',
    });
  };

  /** Removes the part. Throws `local_io` if the existing entry is not what the request allows. */
  async #keepExisting(existing: Stats): Promise<'same' | 'exists'> {
    const { file, signal } = this.#target;
    const { path, finalPath } = this.#part;
    const plan = planFile(existing, file);
    if (plan.kind === 'fail') throw plan.error;
    const isCompared = plan.kind === 'fetch' || plan.kind === 'check';
    if (plan.kind === 'check') await checkExisting(finalPath, file.displayPath, file.sha256, signal);
    if (plan.kind === 'fetch') {
      const fetched = await this.sha256();
      const isSame = (await sha256OfFile(finalPath, file.displayPath, signal)) === fetched;
      if (!isSame) throw differentFileError(file.displayPath, existing.size, this.bytes);
    }
    await this.#part.file.close();
    await this.#names.remove(path);
    return isCompared ? 'same' : 'exists';
  }

  /** Keeps the permissions of the replaced file if it has the same owner and group, as the shell's `>` does. */
  #keepMode(old: Stats): void {
    const { fd } = this.#part.file;
    const { uid, gid } = fstatSync(fd);
    if (old.uid === uid && old.gid === gid) fchmodSync(fd, old.mode & 0o777);
  }

  async abandon(error: unknown): Promise<void> {
    if (!this.#opened) return;
    const mayKeep = !this.#mayBeNamed && canBeResumedAfter(error, this.#target.signal);
    if (mayKeep && (await this.#keep().catch(() => false))) return;
    // Does not wait for the close, because a slow disk may take long to end a flush.
    this.#part.file.discard().catch(() => {});
    await this.#names.remove(this.#part.path).catch(() => {});
  }

  /** Keeps the part for a later run. Returns false if it is not worth it or not certain. Throws the system error. */
  async #keep(): Promise<boolean> {
    const { version, bytes } = this;
    const { directories, finalName, request, secrets } = this.#target;
    const { directory, path, file } = this.#part;
    if (!version?.validator || bytes < MIN_KEPT_BYTES) return false;
    const footer = makeFooter(request, { ...version, bytes });
    if (secrets.holds(footer)) return false;
    // These throw the error of any earlier write or flush of this file.
    await file.write([Buffer.from(footer)]);
    const flushed = createAbortController();
    const timeout = directories.world.sleep(MAX_FLUSH_MS, flushed.signal).then(() => false);
    const isFlushed = await Promise.race([file.flush().then(() => true), timeout]).finally(() => flushed.abort());
    if (!isFlushed) return false;
    await file.close();
    await this.#names.rename(path, directory.pathFor(keptName(finalName)));
    directory.addKept(finalName);
    directories.keptBytes += bytes;
    return true;
  }

  /** Makes a kept part one of this run. Throws the system error. */
  async #claim(directory: Directory): Promise<void> {
    const { directories, finalName, request } = this.#target;
    const { uid, now } = directories.world;
    const paths = this.#pathsIn(directory);
    const keptPath = directory.pathFor(keptName(finalName));
    const { fd, stats } = openPlain(keptPath, constants.O_RDWR | constants.O_NOFOLLOW);
    try {
      if (stats.nlink !== 1 || (uid !== undefined && stats.uid !== uid)) return;
      // It looks as old as the part of a killed run, which another run would remove.
      futimesSync(fd, now() / 1000, now() / 1000);
      await this.#names.rename(keptPath, paths.path);
      const { ino, size } = fstatSync(fd);
      // Between the open and the rename, another run may have claimed this part and kept another one.
      const kept = lstatSync(paths.path).ino === ino ? readFooter(fd, size, request) : undefined;
      if (!kept) return;
      const { bytes, ...version } = kept;
      ftruncateSync(fd, bytes);
      this.version = version;
      await this.#use(fd, directory, paths, bytes);
    } finally {
      if (!this.#opened) {
        await this.#names.remove(paths.path).catch(() => {});
        await closeFile(fd);
      }
    }
  }

  /** Uses an open part from now on, and removes those of killed runs in its directory. */
  async #use(fd: number, directory: Directory, paths: Pick<OpenPart, 'path' | 'finalPath'>, bytes = 0): Promise<void> {
    this.#opened = { ...paths, directory, file: new OutputFile(fd, bytes) };
    await directory.removeAbandoned(fstatSync(fd).mtimeMs, this.#names);
  }

  #pathsIn(directory: Directory): Pick<OpenPart, 'path' | 'finalPath'> {
    const { finalName, directories } = this.#target;
    const path = directory.pathFor(partName(finalName, directories.world.random()));
    return { path, finalPath: directory.pathFor(finalName) };
  }

  get #part(): OpenPart {
    if (!this.#opened) throw new Error('the part was not begun');
    return this.#opened;
  }

  get #names() {
    return this.#target.directories.names;
  }
}

/** Returns whether the bytes before an error may be resumed: the run was stopped, or only this transfer was. */
function canBeResumedAfter(error: unknown, signal: AbortSignal): boolean {
  if (!(error instanceof FilingsError)) return false;
  // The error of another file, such as a full disk, says nothing about the bytes of this one.
  if (error === signal.reason) return true;
  if (error.code === 'local_io') return false;
  return signal.aborted || error.code === 'temporary' || (error.code === 'integrity' && error.retryable === true);
}
