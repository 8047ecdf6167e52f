// Writes one file next to its final name, so that the final name only ever has complete and checked bytes. The order on
// the disk is: part, bytes, flush, final name, flush of the directory. `part-name.ts` has the names.
//
// While a run writes a part, no other run reads it. A run that is stopped may keep it for a later run: it appends a
// footer that says what the bytes are, flushes everything, and only then renames the part to the name of a kept part.
// The later run claims it by renaming it back to a part of its own, which only one run can do. So a kill or a power cut
// leaves a part that is never resumed and that is removed after a day.
import {
  closeSync,
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
import { basename, dirname, join } from 'node:path';
import { createAbortController } from '../abort.ts';
import { NEW_FILE } from '../disk/calls.ts';
import type { Directories, Directory } from '../disk/directory.ts';
import { diskError, withDiskError } from '../disk/failure.ts';
import { OutputFile } from '../disk/output-file.ts';
import { keptName, partName } from '../disk/part-name.ts';
import { openPlain } from '../disk/plain-file.ts';
import { sha256OfFile } from '../disk/sha256.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import type { DiskTarget } from './download.ts';
import { differentFileError, planFile } from './file-plan.ts';
import { type FooterRequest, makeFooter, readFooter } from './footer.ts';
import { checkExisting } from './hashes.ts';
import type { Job, Placement, Sink } from './job.ts';
import type { RemoteVersion } from './resume.ts';

/** A smaller part is not kept: fetching its bytes again takes no longer than keeping them. */
const MIN_KEPT_BYTES = (1 << 20) + 1;
/** Limits the flush of a part that is kept, because a signal or the deadline may end the run. Milliseconds. */
const MAX_FLUSH_MS = 2000;
/** The errors of `link` on FAT and on some network disks, which have no hard links. */
const NO_LINKS = new Set(['EPERM', 'EISDIR', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV']);

export class Part implements Sink {
  readonly isRestartable = true;
  /** The version of the bytes so far. */
  version: RemoteVersion | undefined;
  readonly #job: Job;
  readonly #target: DiskTarget;
  readonly #directories: Directories;
  readonly #path: string;
  #opened: { readonly directory: Directory; readonly file: OutputFile } | undefined;
  /** Whether the file may have its final name already, so that nothing more may be written to it. */
  #mayBeNamed = false;

  constructor(job: Job, target: DiskTarget, directories: Directories) {
    this.#job = job;
    this.#target = target;
    this.#directories = directories;
    this.#path = join(dirname(target.path), partName(basename(target.path), directories.world.random()));
  }

  get bytes(): number {
    return this.#opened?.file.size ?? 0;
  }

  async begin(version: RemoteVersion): Promise<void> {
    this.version = version;
    const directory = this.#directories.open(this.#target.location);
    await withDiskError(this.#target.path, async () =>
      this.#opened ? this.#opened.file.restart() : this.#use(openSync(this.#path, NEW_FILE, 0o666), directory),
    );
  }

  async write(chunks: readonly Buffer[]): Promise<void> {
    await this.#part.file.write(chunks).catch((error) => {
      throw diskError(error, this.#target.path);
    });
  }

  sha256(): Promise<string> {
    return withDiskError(this.#target.path, () => this.#part.file.sha256(this.#job.signal));
  }

  finish(): Promise<Placement> {
    const { directory, file } = this.#part;
    const { path, ifExists } = this.#target;
    return withDiskError(path, async () => {
      const existing = lstatSync(path, { throwIfNoEntry: false });
      if (ifExists === 'overwrite') {
        const plan = planFile(existing, this.#target);
        if (plan.kind === 'fail') throw plan.error;
        if (existing?.isFile()) this.#keepMode(existing);
      } else if (existing) return this.#keepExisting(existing);
      await file.flush();
      this.#mayBeNamed = true;
      if (ifExists === 'overwrite') await this.#rename();
      else if (!(await this.#placeNew())) return this.#keepExisting(lstatSync(path));
      await directory.flush();
      await file.close();
      return 'committed';
    });
  }

  /** Gives the part its final name. Returns false if an entry has that name already. */
  async #placeNew(): Promise<boolean> {
    const { path } = this.#target;
    try {
      await this.#names.link(this.#path, path);
      await this.#names.remove(this.#path);
    } catch (error) {
      const errno = errnoOf(error) ?? '';
      if (errno === 'EEXIST') return false;
      if (!NO_LINKS.has(errno)) this.#refineMissing(error);
      if (lstatSync(path, { throwIfNoEntry: false })) return false;
      await this.#rename();
    }
    return true;
  }

  async #rename(): Promise<void> {
    await this.#names.rename(this.#path, this.#target.path).catch((error) => this.#refineMissing(error));
  }

  /** Rethrows the error of giving the final name. A missing part fails this file alone. */
  #refineMissing(error: unknown): never {
    if (errnoOf(error) !== 'ENOENT' || !existsSync(dirname(this.#path))) throw error;
    throw new FilingsError('temporary', 'something removed its temporary file during the download', {
      subject: { path: this.#target.displayPath },
      hint: 'run it again, and see what removes files in that directory',
    });
  }

  /** Removes the part. Throws `local_io` if the existing entry is not what the request allows. */
  async #keepExisting(existing: Stats): Promise<'same' | 'exists'> {
    const { path, displayPath, sha256 } = this.#target;
    const { signal } = this.#job;
    const plan = planFile(existing, this.#target);
    if (plan.kind === 'fail') throw plan.error;
    if (plan.kind === 'check') await checkExisting(path, displayPath, sha256, signal);
    if (plan.kind === 'fetch') {
      const fetched = await this.sha256();
      if ((await sha256OfFile(path, displayPath, signal)) !== fetched)
        throw differentFileError(displayPath, existing.size, this.bytes);
    }
    await this.#part.file.close();
    await this.#names.remove(this.#path);
    return plan.kind === 'fetch' || plan.kind === 'check' ? 'same' : 'exists';
  }

  /** Keeps the permissions of the replaced file if it has the same owner and group, as the shell's `>` does. */
  #keepMode(old: Stats): void {
    const { fd } = this.#part.file;
    const { uid, gid } = fstatSync(fd);
    if (old.uid === uid && old.gid === gid) fchmodSync(fd, old.mode & 0o777);
  }

  async abandon(error: unknown): Promise<void> {
    if (!this.#opened) return;
    const mayKeep = !this.#mayBeNamed && canBeResumedAfter(error, this.#job.signal);
    if (mayKeep && (await this.#keep().catch(() => false))) return;
    // Does not wait for the close, because a slow disk may take long to end a flush.
    this.#part.file.discard().catch(() => {});
    await this.#names.remove(this.#path).catch(() => {});
  }

  /** Keeps the part for a later run. Returns false if it is not worth it or not certain. Throws the system error. */
  async #keep(): Promise<boolean> {
    const { version, bytes } = this;
    const { file } = this.#part;
    if (!version?.validator || bytes < MIN_KEPT_BYTES) return false;
    const footer = makeFooter(this.#request, { ...version, bytes });
    if (this.#job.client.options.secrets.holds(footer)) return false;
    // These throw the error of any earlier write or flush of this file.
    await file.write([Buffer.from(footer)]);
    const flushed = createAbortController();
    const timeout = this.#directories.world.sleep(MAX_FLUSH_MS, flushed.signal).then(() => false);
    const isFlushed = await Promise.race([file.flush().then(() => true), timeout]).finally(() => flushed.abort());
    if (!isFlushed) return false;
    await file.close();
    await this.#names.rename(this.#path, keptPath(this.#target));
    this.#directories.keptBytes += bytes;
    return true;
  }

  /** Claims the part that an ended run kept. Creates nothing: `begin` does that. Throws `local_io`. */
  async claim(): Promise<void> {
    const directory = this.#directories.openExisting(this.#target.location);
    const path = keptPath(this.#target);
    // A part that cannot be claimed is no reason to fail.
    if (directory && existsSync(path)) await this.#claim(path, directory).catch(() => {});
  }

  /** Makes a kept part one of this run. Throws the system error. */
  async #claim(path: string, directory: Directory): Promise<void> {
    const { uid, now } = this.#directories.world;
    const { fd, stats } = openPlain(path, constants.O_RDWR | constants.O_NOFOLLOW);
    try {
      if (stats.nlink !== 1 || (uid !== undefined && stats.uid !== uid)) return;
      // It looks as old as the part of a killed run, which another run would remove.
      futimesSync(fd, now() / 1000, now() / 1000);
      await this.#names.rename(path, this.#path);
      const { ino, size } = fstatSync(fd);
      // Between the open and the rename, another run may have claimed this part and kept another one.
      const kept = lstatSync(this.#path).ino === ino ? readFooter(fd, size, this.#request) : undefined;
      if (!kept) return;
      const { bytes, ...version } = kept;
      ftruncateSync(fd, bytes);
      this.version = version;
      await this.#use(fd, directory, bytes);
    } finally {
      if (!this.#opened) {
        await this.#names.remove(this.#path).catch(() => {});
        closeSync(fd);
      }
    }
  }

  /** Uses an open part from now on, and removes those of killed runs in its directory. */
  async #use(fd: number, directory: Directory, bytes = 0): Promise<void> {
    this.#opened = { directory, file: new OutputFile(fd, bytes) };
    await directory.removeAbandoned(fstatSync(fd).mtimeMs, this.#names).catch(() => {});
  }

  get #request(): FooterRequest {
    const { client, remoteFile } = this.#job;
    return { baseUrl: client.options.baseUrl.href, ...remoteFile };
  }

  get #part() {
    if (!this.#opened) throw new Error('the part was not begun');
    return this.#opened;
  }

  get #names() {
    return this.#directories.names;
  }
}

/** Returns the path of the part of a file that an ended run kept. */
export function keptPath({ path }: Pick<DiskTarget, 'path'>): string {
  return join(dirname(path), keptName(basename(path)));
}

/** Returns whether the bytes before an error may be resumed: the run was stopped, or only this transfer was. */
function canBeResumedAfter(error: unknown, signal: AbortSignal): boolean {
  if (!(error instanceof FilingsError)) return false;
  // The error of another file, such as a full disk, says nothing about the bytes of this one.
  if (error === signal.reason) return true;
  if (error.code === 'local_io') return false;
  return signal.aborted || error.code === 'temporary' || (error.code === 'integrity' && error.retryable === true);
}
