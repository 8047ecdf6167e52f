import type { Stats } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { Directory } from '../../disk/directory.ts';
import { diskFailure, withDiskFailure } from '../../disk/failure.ts';
import { sha256OfFile } from '../../disk/sha256.ts';
import { OutputFile } from '../../disk/written-file.ts';
import { FilingsError } from '../../errors.ts';
import { checkExisting, existingAt } from '../existing.ts';
import { differs, type Existing, type FilePlan } from '../file-plan.ts';
import type { Placement, Sink } from '../job.ts';
import type { RemoteVersion } from '../resume.ts';
import { commitPart, type OwnPart, pathOf } from './commit.ts';
import type { Leftovers, Part } from './leftovers.ts';
import { newId, recordName, stemOf } from './owner.ts';
import { recordText } from './record.ts';

/** Smaller bodies are fetched anew in the time that a record costs. */
const RECORDED_FROM_BYTES = 1 << 20;

interface PartTarget {
  readonly directory: Directory;
  readonly leftovers: Leftovers;
  readonly final: string;
  readonly request: string;
  /** The path as the user would write it. */
  readonly displayPath: string;
  /** The plan by which the file is fetched. */
  readonly plan: FilePlan;
  /** Plans again with what exists by now. `fetchedBytes` is the size of what the service sends. */
  readonly planAgain: (existing: Existing, fetchedBytes: number) => FilePlan;
  readonly signal: AbortSignal;
}

/**
 * A part beside the final name, exclusive, with a record for large bodies. Complete and proved, it is flushed, named,
 * and the directory flushed.
 */
export class PartFile implements Sink {
  readonly restartable = true;
  readonly version: RemoteVersion | undefined;
  readonly #target: PartTarget;
  readonly #part: OwnPart;
  readonly #file: OutputFile;
  /** What the record beside the part says; undefined if there is none. */
  #recorded: RemoteVersion | undefined;

  private constructor(target: PartTarget, { id, file, version }: Part) {
    const { directory, final, leftovers } = target;
    this.#target = target;
    this.#part = { directory, final, id, run: leftovers.run };
    this.#file = file;
    this.version = version;
    this.#recorded = version;
  }

  /** Resumes a part of an earlier run, if there is one. Throws `local_io`. */
  static async open(target: PartTarget): Promise<PartFile> {
    const { directory, leftovers, final, request } = target;
    const claimed = await leftovers.claim(final, request);
    if (claimed) return new PartFile(target, claimed);
    const { run } = leftovers;
    const id = newId(run.random());
    const path = pathOf({ directory, final, id, run });
    const fd = await withDiskFailure(directory.entry(final), () => directory.disk.create(path, 0o666));
    return new PartFile(target, { id, file: new OutputFile(fd, directory.disk, 0, run.kept.noteFailure) });
  }

  get bytes(): number {
    return this.#file.size;
  }

  begin(version: RemoteVersion): Promise<void> {
    const { validator, total } = version;
    return withDiskFailure(this.#final, async () => {
      // A file of another size need not be fetched to be compared.
      if (this.#target.plan.kind === 'compare' && total !== undefined) await this.#planAgain(total);
      await this.#forget();
      if (this.bytes > 0) await this.#file.restart();
      if (!validator || (total !== undefined && total <= RECORDED_FROM_BYTES)) return;
      await this.#writeRecord(version);
    });
  }

  async #writeRecord(version: RemoteVersion): Promise<void> {
    // Set first, so that the rest of a record that a full disk tore is removed, too.
    this.#recorded = version;
    // It need not be flushed: after a power cut no part is resumed.
    await writeFile(this.#record, recordText(this.#target.request, version), { flag: 'wx', mode: 0o600 });
  }

  async write(chunks: readonly Buffer[]): Promise<void> {
    await this.#file.write(chunks).catch((error) => {
      throw diskFailure(error, this.#final);
    });
  }

  sha256(): Promise<string> {
    return withDiskFailure(this.#final, () => this.#file.sha256(this.#target.signal));
  }

  finish(): Promise<Placement> {
    return withDiskFailure(this.#final, () => this.#commit());
  }

  /** Consumes the part, whatever the result. */
  async #commit(): Promise<Placement> {
    const { plan, signal } = this.#target;
    // A new file needs no second look: its commit fails if the name exists by then.
    let now: Replanned = plan.kind === 'download' ? { plan } : await this.#planAgain(this.bytes);
    for (;;) {
      const isCommitted = now.plan.kind === 'download' || now.plan.kind === 'replace';
      // Before the flush: most often an existing file is the same, and the part is discarded.
      if (!isCommitted) return await this.#keepExisting(now.plan);
      if (now.existing?.kind === 'file') await this.#keepMode(now.existing.stats);
      await this.#file.flush();
      // Before the part gets its name, so that a crash leaves no record behind. One that stays costs nothing.
      await this.#forget().catch(() => {});
      const placement = await commitPart(this.#part, now.plan.kind === 'download', signal);
      if (placement !== 'exists') {
        await this.#file.close();
        return placement;
      }
      now = await this.#planAgain(this.bytes);
    }
  }

  /** Throws the error of the plan, `local_io`. */
  async #planAgain(fetchedBytes: number): Promise<Replanned> {
    const { directory, final, planAgain } = this.#target;
    const existing = await existingAt(directory, final);
    const plan = planAgain(existing, fetchedBytes);
    if (plan.kind === 'fail') throw plan.error;
    return { plan, existing };
  }

  /** Removes the part. Throws `local_io` or `integrity` if the existing file is not what the plan requires. */
  async #keepExisting(plan: FilePlan): Promise<'same' | 'exists'> {
    const { displayPath, signal } = this.#target;
    if (plan.kind === 'check') await checkExisting(this.#final, displayPath, plan.sha256, signal);
    if (plan.kind === 'compare') {
      const isSame = (await sha256OfFile(this.#final, displayPath, signal)) === (await this.sha256());
      if (!isSame) throw differs(displayPath, this.bytes, this.bytes);
    }
    await this.#discard();
    return plan.kind === 'compare' ? 'same' : 'exists';
  }

  /** The permissions of one's own file that is replaced stay, as with the shell's `>`. */
  async #keepMode(old: Stats): Promise<void> {
    const { uid, gid } = await this.#file.stat();
    if (old.uid === uid && old.gid === gid) await this.#file.setMode(old.mode & 0o777);
  }

  async abandon(error: unknown): Promise<void> {
    try {
      if ((this.#target.signal.aborted || isWorthKeeping(error)) && (await this.#keep())) return;
    } catch (failure) {
      this.#part.run.kept.noteFailure(failure);
    }
    // Does not wait for the close: a disk may take long to end a flush.
    this.#file.drop().catch(() => {});
    await this.#remove().catch(() => {});
  }

  /**
   * Leaves the part for a later run, if that can resume it. Meanwhile there is no record: the failure of a flush whose
   * process is killed is lost, and nothing may be resumed then. Throws what the system says.
   */
  async #keep(): Promise<boolean> {
    const { directory, run } = this.#part;
    const version = this.#recorded;
    if (!version || this.bytes === 0) return false;
    await this.#forget();
    if (!(await run.kept.isSafe(this.#file))) return false;
    await this.#file.close();
    await this.#writeRecord(version);
    run.kept.add({ bytes: this.bytes, disk: directory.disk, paths: [this.#record, pathOf(this.#part)] });
    return true;
  }

  async #discard(): Promise<void> {
    await this.#file.close();
    await this.#remove();
  }

  /** Removes the record first: a part without a record is never resumed. */
  async #remove(): Promise<void> {
    try {
      await this.#forget();
    } finally {
      await this.#target.directory.disk.remove(pathOf(this.#part));
    }
  }

  async #forget(): Promise<void> {
    if (!this.#recorded) return;
    this.#recorded = undefined;
    await this.#target.directory.disk.remove(this.#record);
  }

  get #final(): string {
    return this.#target.directory.entry(this.#target.final);
  }

  get #record(): string {
    return this.#target.directory.entry(recordName(stemOf(this.#target.final), this.#part.id));
  }
}

/** `existing` is undefined if nothing was looked at. */
interface Replanned {
  readonly plan: FilePlan;
  readonly existing?: Existing;
}

/** Another run can resume after a temporary failure or a truncation alone. */
function isWorthKeeping(error: unknown): boolean {
  if (!(error instanceof FilingsError)) return false;
  const { code, retryable } = error;
  return code === 'temporary' || (code === 'integrity' && retryable);
}
