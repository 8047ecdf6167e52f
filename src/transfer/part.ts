// The sink for a file on the disk, and the order of its steps, so that the final name never has incomplete or unchecked
// bytes, even after a power cut (ARCHITECTURE.md, "One download"; docs/guarantees.md, "Every name on the disk").
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
import { unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createAbortController, waitAtMost } from '../abort.ts';
import type { Announcement } from '../checksums/sums-files.ts';
import { NEW_FILE } from '../disk/calls.ts';
import type { Directory } from '../disk/directory.ts';
import { mapWriteErrors, toReadError } from '../disk/failure.ts';
import { openRegular } from '../disk/open-file.ts';
import { OutputFile } from '../disk/output-file.ts';
import { keptPartName, workingPartName } from '../disk/part-name.ts';
import { hashFile, hashOpenFile } from '../disk/sha256.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import type { DownloadContext } from './download.ts';
import { type FileRequest, makeFooter, readFooter } from './footer.ts';
import { choosePlan, type DiskTarget, differentFileError, type NameTakenPlan, type Plan } from './plan.ts';
import type { RemoteVersion } from './resume.ts';
import type { RemoteFile, Sink } from './transfer.ts';

/** A smaller part is not kept: fetching its bytes again takes no longer than flushing and keeping them. */
const MIN_KEPT_BYTES = (1 << 20) + 1;
/** For the last flush of a part that is to be kept: a stopped run must not wait for a slow disk. */
const MAX_FLUSH_MS = 2000;
/** How often a file that has the final name may vanish before it can be looked at. */
const MAX_LINK_TRIES = 3;

/**
 * Call `claimKept` first, and in the end `commit`. If that leaves the final name to another file, call `discard`; after
 * any error, `abandon`. Errors of the disk show the final path, because the user does not know the name of the part.
 */
export class Part implements Sink {
  readonly isRestartable = true;
  version: RemoteVersion = {};
  readonly #file: RemoteFile;
  readonly #target: DiskTarget;
  readonly #context: DownloadContext;
  /** Whether the plan is to compare the bytes with those of an existing file. */
  readonly #isCompared: boolean;
  readonly #path: string;
  /** Undefined until `restart`, or `claimKept` if there was a kept part. */
  #openPart: { readonly directory: Directory; readonly file: OutputFile } | undefined;
  #hasFinalName = false;
  /** True from just before `link` or `rename`. Then nothing may be written: the part may be the final file already. */
  #mayHaveFinalName = false;

  constructor(file: RemoteFile, target: DiskTarget, plan: Plan, context: DownloadContext) {
    this.#file = file;
    this.#target = target;
    this.#isCompared = plan.kind === 'compare';
    this.#context = context;
    this.#path = join(dirname(target.path), workingPartName(basename(target.path), context.world.random()));
  }

  get bytes(): number {
    return this.#openPart?.file.size ?? 0;
  }

  /** With `--if-exists compare`, also throws `local_io` if the length shows that the existing file is different. */
  async restart(): Promise<void> {
    const { path, displayPath } = this.#target;
    const existing = this.#isCompared ? this.#findExisting() : undefined;
    const { total } = this.version;
    if (existing?.isFile() && total !== undefined && total !== existing.size)
      throw differentFileError(displayPath, existing.size, total);
    // Not overwritten: after a power cut, a claimed part could have its old name and footer back, but bytes of another
    // version in front of them.
    const old = this.#openPart?.file;
    this.#openPart = undefined;
    await old?.discard();
    if (old) await mapWriteErrors(path, () => this.#nameOperations.remove(this.#path));
    const directory = this.#context.directories.open(dirname(path));
    let fd: number;
    try {
      fd = openSync(this.#path, NEW_FILE, 0o666);
    } catch (error) {
      throw this.#context.directories.toCreateError(error, path);
    }
    await this.#begin(fd, directory);
  }

  async write(chunks: readonly Buffer[]): Promise<void> {
    await mapWriteErrors(this.#target.path, () => this.#requiredPart.file.write(chunks));
  }

  async sha256(): Promise<string> {
    const { fd, size } = this.#requiredPart.file;
    return hashOpenFile(fd, size, this.#context.signal).catch((error) => {
      throw toReadError(error, this.#target.displayPath);
    });
  }

  /**
   * Gives the final name to the bytes, which are complete and checked. If another file has the name and stays, or
   * cannot be replaced, returns the plan for it instead. `sha256` is for SHA256SUMS.
   */
  commit(sha256: string | undefined): Promise<NameTakenPlan | undefined> {
    const { directory, file } = this.#requiredPart;
    const { path } = this.#target;
    const { checksums } = this.#context;
    return mapWriteErrors(path, async () => {
      const existing = this.#findExisting();
      const plan = choosePlan(existing, this.#target);
      if (plan.kind !== 'fetch') return plan;
      if (existing?.isFile()) this.#copyMode(existing);
      await file.flush();
      const sums = checksums?.at(directory);
      const announcement = sha256 === undefined ? undefined : await sums?.announce(basename(path), sha256);
      this.#mayHaveFinalName = true;
      const keepPlan = await this.#takeFinalName().finally(() => this.#withdrawIfOtherFile(announcement, sha256));
      if (keepPlan) return keepPlan;
      await directory.flush();
      await file.close();
      await announcement?.settle();
      // Another run may have kept a part of the same file in the meantime.
      await removeKeptPart(this.#target);
      return undefined;
    });
  }

  #findExisting(): Stats | undefined {
    return lstatSync(this.#target.path, { throwIfNoEntry: false });
  }

  /**
   * Withdraws the entry if a file with other bytes has the final name. If it has the same bytes, another run may rely
   * on the entry, or a network file system has reported a failure of a rename that was done.
   */
  async #withdrawIfOtherFile(announcement: Announcement | undefined, sha256: string | undefined): Promise<void> {
    if (!announcement || this.#hasFinalName || !this.#findExisting()) return;
    // Not the signal of the run, because an abort must not look like other bytes.
    const current = await hashFile(this.#target.path, createAbortController().signal).catch(() => undefined);
    if (current !== sha256) await announcement.withdraw();
  }

  /** Returns the plan for another file if that keeps the name. */
  async #takeFinalName(): Promise<NameTakenPlan | undefined> {
    const { path, ifExists } = this.#target;
    // Unlike a rename, a hard link never replaces anything.
    for (let tries = 0; ifExists !== 'overwrite' && tries < MAX_LINK_TRIES; tries += 1) {
      try {
        await this.#nameOperations.link(this.#path, path);
        this.#hasFinalName = true;
        // A second name does no harm.
        await this.#nameOperations.remove(this.#path).catch(() => {});
        return undefined;
      } catch (error) {
        const plan = choosePlan(this.#findExisting(), this.#target);
        if (plan.kind !== 'fetch') return plan;
        // Any other error means that this file system has no hard links: there are many ways to say so. Without them,
        // the rename may replace a file that another run has just put there (docs/guarantees.md, "Not promised").
        if (errnoOf(error) !== 'EEXIST') break;
      }
    }
    await this.#nameOperations.rename(this.#path, path).catch((error) => this.#throwRenameError(error));
    this.#hasFinalName = true;
    return undefined;
  }

  /** Throws the error of `rename`. If only the part is missing, it was removed by another program. */
  #throwRenameError(error: unknown): never {
    const { path, displayPath } = this.#target;
    if (errnoOf(error) !== 'ENOENT' || !existsSync(dirname(path)))
      throw this.#context.directories.toRenameError(error, path);
    throw new FilingsError('temporary', 'another program removed the temporary file during the download', {
      subject: { path: displayPath },
      hint: 'find out what removes files there, then run it again',
    });
  }

  /**
   * Copies the permissions of the file to replace, because the shell's `>` would not change them either. If that file
   * has another owner or group, the new one keeps the default permissions.
   */
  #copyMode(old: Stats): void {
    const { fd } = this.#requiredPart.file;
    const { uid, gid } = fstatSync(fd);
    if (old.uid === uid && old.gid === gid) fchmodSync(fd, old.mode & 0o777);
  }

  async discard(): Promise<void> {
    await this.#requiredPart.file.close();
    await this.#nameOperations.remove(this.#path);
  }

  /** Removes the part, unless a later run can resume it. Returns the number of bytes that are kept. Never throws. */
  async abandon(error: unknown): Promise<number> {
    if (!this.#openPart) return 0;
    const mayKeep = !this.#mayHaveFinalName && canBeResumedAfter(error, this.#context.signal);
    const keptBytes = mayKeep ? await this.#keep().catch(() => 0) : 0;
    if (keptBytes > 0) return keptBytes;
    // Not awaited, because a slow disk may take long to end a flush.
    this.#openPart.file.discard().catch(() => {});
    await this.#nameOperations.remove(this.#path).catch(() => {});
    return 0;
  }

  /** Returns the number of kept bytes: 0 if the part could not be resumed, or is not worth it. */
  async #keep(): Promise<number> {
    const { version, bytes } = this;
    const { file } = this.#requiredPart;
    const { sleep, secrets } = this.#context.world;
    if (!version.validator || bytes < MIN_KEPT_BYTES) return 0;
    const footer = makeFooter(this.#request, { ...version, bytes });
    // No secret may get onto the disk, and the URL of the response, which the footer has, could hold one.
    if (secrets.occurIn(footer)) return 0;
    // If an earlier write or flush of the file failed, bytes may be lost. Then `write` and `flush` throw its error.
    await file.write([Buffer.from(footer)]);
    const isFlushed = await waitAtMost(
      MAX_FLUSH_MS,
      sleep,
      file.flush().then(() => true),
    );
    const hasFinalFile = this.#target.ifExists !== 'overwrite' && this.#findExisting() !== undefined;
    if (!isFlushed || hasFinalFile) return 0;
    await file.close();
    await this.#nameOperations.rename(this.#path, keptPath(this.#target));
    return bytes;
  }

  /** Claims the kept part of an earlier run, if there is one. */
  async claimKept(directory: Directory): Promise<void> {
    // The bytes of a file that is only to be compared are not needed if its length differs, so it begins at byte 0. If
    // the part cannot be claimed, the download begins there as well, so the error is ignored.
    const kept = keptPath(this.#target);
    if (!this.#isCompared && existsSync(kept)) await this.#claim(kept, directory).catch(() => {});
  }

  /** Removes a kept part whose footer is invalid or is for another request. */
  async #claim(path: string, directory: Directory): Promise<void> {
    const { uid, now } = this.#context.world;
    const { fd, stats } = openRegular(path, constants.O_RDWR | constants.O_NOFOLLOW);
    try {
      // Claiming truncates the file, so it must not be another user's, nor have another name (a hard link).
      if (stats.nlink !== 1 || (uid !== undefined && stats.uid !== uid)) return;
      // After the rename below, another run would take it for the part of a killed run if it is more than a day old.
      futimesSync(fd, now() / 1000, now() / 1000);
      await this.#nameOperations.rename(path, this.#path);
      const { ino, size } = fstatSync(fd);
      // Since it was opened, another run may have claimed it and kept a new part under the same name. Then the rename
      // has moved that new part, which is not the open file and is removed below.
      const kept = lstatSync(this.#path).ino === ino ? readFooter(fd, size, this.#request) : undefined;
      if (!kept) return;
      const { bytes, ...version } = kept;
      // Cuts the footer off. That also sets the modification time by the clock of the file system, which may differ
      // from this machine's. `removeAbandonedParts`, which `#begin` calls, compares it with the times of other parts.
      ftruncateSync(fd, bytes);
      this.version = version;
      await this.#begin(fd, directory, bytes);
    } finally {
      // Before the rename, no file has this name, and `remove` does nothing.
      if (!this.#openPart) {
        await this.#nameOperations.remove(this.#path).catch(() => {});
        closeSync(fd);
      }
    }
  }

  /** Also removes the parts of killed runs in the directory. One that stays behind does no harm. */
  async #begin(fd: number, directory: Directory, bytes = 0): Promise<void> {
    this.#openPart = { directory, file: new OutputFile(fd, bytes) };
    await directory.removeAbandonedParts(fd).catch(() => {});
  }

  get #request(): FileRequest {
    const { accession, fileName } = this.#file;
    return { baseUrl: this.#context.client.baseUrl.href, accession, fileName };
  }

  get #requiredPart() {
    if (!this.#openPart) throw new Error('restart was not called');
    return this.#openPart;
  }

  get #nameOperations() {
    return this.#context.directories.nameOperations;
  }
}

/** Removes the kept part of a complete file. One that stays behind does no harm, so a failure is ignored. */
export async function removeKeptPart(target: DiskTarget): Promise<void> {
  if (existsSync(keptPath(target))) await unlink(keptPath(target)).catch(() => {});
}

/** The path of the kept part, whether or not it exists. */
export function keptPath({ path }: Pick<DiskTarget, 'path'>): string {
  return join(dirname(path), keptPartName(basename(path)));
}

/**
 * Whether the bytes that were received before an error are good. After `local_io`, they may be lost. After `integrity`,
 * they are wrong, unless the error is retryable: then the body was only truncated.
 */
function canBeResumedAfter(error: unknown, signal: AbortSignal): boolean {
  if (!(error instanceof FilingsError)) return false;
  // What stopped the run, such as an error of another file, says nothing about the bytes of this one.
  if (error === signal.reason) return true;
  if (error.code === 'local_io') return false;
  // Once the signal has aborted, every attempt ends with its reason. So if this error is a different one, it comes from
  // the commit, and by then the bytes were complete and checked.
  return signal.aborted || error.code === 'temporary' || (error.code === 'integrity' && error.retryable === true);
}
