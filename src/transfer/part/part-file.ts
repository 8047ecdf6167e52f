// Writes one file to a part beside its final name, so that the final name only ever has complete and checked bytes. The
// order on disk is: part, record, bytes, flush, final name, flush of the directory.
import type { Stats } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { Directory } from '../../disk/directory.ts';
import { diskError, withDiskError } from '../../disk/failure.ts';
import { OutputFile } from '../../disk/output-file.ts';
import { sha256OfFile } from '../../disk/sha256.ts';
import { FilingsError } from '../../errors.ts';
import { checkExisting, findExisting } from '../existing.ts';
import { differentFileError, type Existing, type FilePlan } from '../file-plan.ts';
import type { Placement, Sink } from '../job.ts';
import type { RemoteVersion } from '../resume.ts';
import { commitPart, type OwnPart, pathOf } from './commit.ts';
import type { Leftovers, Part } from './leftovers.ts';
import { newId, recordName, stemOf } from './owner.ts';
import { recordText } from './record.ts';

/** A body up to this size gets no record: fetching the body again takes no longer than writing the record. Bytes. */
const MAX_UNRECORDED_BYTES = 1 << 20;

interface PartTarget {
  readonly directory: Directory;
  readonly leftovers: Leftovers;
  readonly finalName: string;
  readonly request: string;
  /** The path as the user would write it. */
  readonly displayPath: string;
  /** The plan by which the file is fetched. */
  readonly plan: FilePlan;
  /** Plans again with the entry that exists by now. `fetchedBytes` is the size of the file that the service sends. */
  readonly planAgain: (existing: Existing, fetchedBytes: number) => FilePlan;
  readonly signal: AbortSignal;
}

/**
 * A part beside the final name, which only this run writes, with a record for a large body. `finish` flushes the part,
 * gives it the final name and flushes the directory.
 */
export class PartFile implements Sink {
  readonly isRestartable = true;
  readonly version: RemoteVersion | undefined;
  readonly #target: PartTarget;
  readonly #part: OwnPart;
  readonly #file: OutputFile;
  /** The version in the record beside the part; undefined if there is no record. */
  #recordedVersion: RemoteVersion | undefined;

  private constructor(target: PartTarget, { id, file, version }: Part) {
    const { directory, finalName, leftovers } = target;
    this.#target = target;
    this.#part = { directory, finalName, id, run: leftovers.run };
    this.#file = file;
    this.version = version;
    this.#recordedVersion = version;
  }

  /** Claims a part of an earlier run, or creates one. Throws `local_io`. */
  static async open(target: PartTarget): Promise<PartFile> {
    const { directory, leftovers, finalName, request } = target;
    const claimed = await leftovers.claim(finalName, request);
    if (claimed) return new PartFile(target, claimed);
    const { run } = leftovers;
    const id = newId(run.random());
    const path = pathOf({ directory, finalName, id, run });
    const fd = await withDiskError(directory.pathFor(finalName), () => directory.disk.create(path, 0o666));
    return new PartFile(target, { id, file: new OutputFile(fd, directory.disk, 0, run.keptParts.noteFailure) });
  }

  get bytes(): number {
    return this.#file.size;
  }

  begin(version: RemoteVersion): Promise<void> {
    const { validator, total } = version;
    return withDiskError(this.#finalPath, async () => {
      // An existing file of another size differs, so there is no need to fetch this one.
      if (this.#target.plan.kind === 'compare' && total !== undefined) await this.#planAgain(total);
      await this.#removeRecord();
      if (this.bytes > 0) await this.#file.restart();
      if (!validator || (total !== undefined && total <= MAX_UNRECORDED_BYTES)) return;
      await this.#writeRecord(version);
    });
  }

  async #writeRecord(version: RemoteVersion): Promise<void> {
    // Set before the write, so that a record that a full disk cut short is removed too.
    this.#recordedVersion = version;
    // The record is not flushed, because no part is resumed after a power cut.
    await writeFile(this.#recordPath, recordText(this.#target.request, version), { flag: 'wx', mode: 0o600 });
  }

  async write(chunks: readonly Buffer[]): Promise<void> {
    await this.#file.write(chunks).catch((error) => {
      throw diskError(error, this.#finalPath);
    });
  }

  sha256(): Promise<string> {
    return withDiskError(this.#finalPath, () => this.#file.sha256(this.#target.signal));
  }

  finish(): Promise<Placement> {
    return withDiskError(this.#finalPath, () => this.#commit());
  }

  /** Consumes the part, whatever the result. */
  async #commit(): Promise<Placement> {
    const { plan, signal } = this.#target;
    // A new file needs no second check: its commit fails if the name exists by then.
    let current: CurrentPlan = plan.kind === 'download' ? { plan } : await this.#planAgain(this.bytes);
    for (;;) {
      const isCommitted = current.plan.kind === 'download' || current.plan.kind === 'replace';
      // Compares before flushing: the existing file is usually equal, and an equal part is discarded.
      if (!isCommitted) return await this.#keepExisting(current.plan);
      if (current.existing?.kind === 'file') await this.#keepMode(current.existing.stats);
      await this.#file.flush();
      // Deletes the record before naming the file, so that a crash leaves no record without a part. Errors do no harm.
      await this.#removeRecord().catch(() => {});
      const placement = await commitPart(this.#part, current.plan.kind === 'download', signal);
      if (placement !== 'exists') {
        await this.#file.close();
        return placement;
      }
      current = await this.#planAgain(this.bytes);
    }
  }

  /** Returns the plan for the entry that exists by now. Throws the error of the plan, `local_io`. */
  async #planAgain(fetchedBytes: number): Promise<CurrentPlan> {
    const { directory, finalName, planAgain } = this.#target;
    const existing = await findExisting(directory, finalName);
    const plan = planAgain(existing, fetchedBytes);
    if (plan.kind === 'fail') throw plan.error;
    return { plan, existing };
  }

  /** Removes the part. Throws `local_io` or `integrity` if the existing file is not what the plan requires. */
  async #keepExisting(plan: FilePlan): Promise<'same' | 'exists'> {
    const { displayPath, signal } = this.#target;
    if (plan.kind === 'check') await checkExisting(this.#finalPath, displayPath, plan.sha256, signal);
    if (plan.kind === 'compare') {
      const isSame = (await sha256OfFile(this.#finalPath, displayPath, signal)) === (await this.sha256());
      if (!isSame) throw differentFileError(displayPath, this.bytes, this.bytes);
    }
    await this.#discard();
    return plan.kind === 'compare' ? 'same' : 'exists';
  }

  /** Keeps the permissions of the replaced file if it has the same owner and group, as the shell's `>` does. */
  async #keepMode(old: Stats): Promise<void> {
    const { uid, gid } = await this.#file.stat();
    if (old.uid === uid && old.gid === gid) await this.#file.setMode(old.mode & 0o777);
  }

  async abandon(error: unknown): Promise<void> {
    try {
      if ((this.#target.signal.aborted || isWorthKeeping(error)) && (await this.#keep())) return;
    } catch (failure) {
      this.#part.run.keptParts.noteFailure(failure);
    }
    // Does not wait for the close, because a slow disk may take long to end a flush.
    this.#file.discard().catch(() => {});
    await this.#remove().catch(() => {});
  }

  /**
   * Leaves the part for a later run. Returns false if a later run cannot resume the part. The record is removed during
   * the flush: if the process is killed meanwhile, the error of the flush is lost, and the part must not be resumed.
   * Throws the system error.
   */
  async #keep(): Promise<boolean> {
    const { directory, run } = this.#part;
    const version = this.#recordedVersion;
    if (!version || this.bytes === 0) return false;
    await this.#removeRecord();
    if (!(await run.keptParts.tryFlush(this.#file))) return false;
    await this.#file.close();
    await this.#writeRecord(version);
    const paths = [this.#recordPath, pathOf(this.#part)];
    run.keptParts.add({ bytes: this.bytes, disk: directory.disk, paths });
    return true;
  }

  async #discard(): Promise<void> {
    await this.#file.close();
    await this.#remove();
  }

  /** Removes the record first: a part without a record is never resumed. */
  async #remove(): Promise<void> {
    try {
      await this.#removeRecord();
    } finally {
      await this.#target.directory.disk.remove(pathOf(this.#part));
    }
  }

  async #removeRecord(): Promise<void> {
    if (!this.#recordedVersion) return;
    this.#recordedVersion = undefined;
    await this.#target.directory.disk.remove(this.#recordPath);
  }

  get #finalPath(): string {
    return this.#target.directory.pathFor(this.#target.finalName);
  }

  get #recordPath(): string {
    return this.#target.directory.pathFor(recordName(stemOf(this.#target.finalName), this.#part.id));
  }
}

/** A plan, and the entry for which it was made. `existing` is undefined if no entry was checked. */
interface CurrentPlan {
  readonly plan: FilePlan;
  readonly existing?: Existing;
}

/** Returns whether another run may resume the part: only after a temporary failure or a truncation. */
function isWorthKeeping(error: unknown): boolean {
  if (!(error instanceof FilingsError)) return false;
  const { code, retryable } = error;
  return code === 'temporary' || (code === 'integrity' && retryable);
}
