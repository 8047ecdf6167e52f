import type { Stats } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { Directory } from '../../disk/directory.ts';
import { diskFailure, withDiskFailure } from '../../disk/failure.ts';
import { sha256OfFile } from '../../disk/sha256.ts';
import { WrittenFile } from '../../disk/written-file.ts';
import { FilingsError } from '../../errors.ts';
import type { Placement, Sink } from '../job.ts';
import { differs, type IfExists, presentAt } from '../present.ts';
import type { Version } from '../resume.ts';
import { type OwnPart, pathOf, place } from './commit.ts';
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
  readonly ifExists: IfExists;
  readonly signal: AbortSignal;
}

/**
 * A part beside the final name, exclusive, with a record for large bodies. Complete and proved, it is flushed, named,
 * and the directory flushed.
 */
export class PartFile implements Sink {
  readonly restartable = true;
  readonly version: Version | undefined;
  readonly #target: PartTarget;
  readonly #part: OwnPart;
  readonly #file: WrittenFile;
  #hasRecord: boolean;

  private constructor(target: PartTarget, { id, file, version }: Part) {
    const { directory, final, leftovers } = target;
    this.#target = target;
    this.#part = { directory, final, id, run: leftovers.run };
    this.#file = file;
    this.version = version;
    this.#hasRecord = version !== undefined;
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
    return new PartFile(target, { id, file: new WrittenFile(fd, directory.disk) });
  }

  get bytes(): number {
    return this.#file.size;
  }

  begin(version: Version): Promise<void> {
    const { validator, total } = version;
    return withDiskFailure(this.#final, async () => {
      await this.#requireSize(total);
      await this.#forget();
      if (this.bytes > 0) await this.#file.restart();
      if (!validator || (total !== undefined && total <= RECORDED_FROM_BYTES)) return;
      // What a full disk leaves of it is removed, too.
      this.#hasRecord = true;
      // It need not be flushed: after a power cut no part is resumed.
      await writeFile(this.#record, recordText(this.#target.request, version), { flag: 'wx', mode: 0o600 });
    });
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

  /** The part is gone then, whatever it says. */
  async #commit(): Promise<Placement> {
    const { ifExists, signal } = this.#target;
    if (ifExists === 'overwrite') await this.#keepMode();
    // Compared before it is flushed: most often it goes again.
    if (ifExists === 'compare' && (await this.#isTaken())) return 'taken';
    await this.#file.flush();
    // Before the name, so that a kill between the two leaves nothing over; what can't be removed costs nothing.
    await this.#forget().catch(() => {});
    for (;;) {
      const placed = await place(this.#part, ifExists !== 'overwrite', signal);
      // What had the name may be gone again.
      if (placed === 'taken' && !(await this.#isTaken())) continue;
      await this.#file.close();
      return placed;
    }
  }

  /** The part goes when the file that has the name may keep it. Throws `local_io`. */
  async #isTaken(): Promise<boolean> {
    const { ifExists, signal } = this.#target;
    const stats = await this.#present();
    if (!stats) return false;
    const isSame = async () => (await sha256OfFile(this.#final, this.#final, signal)) === (await this.sha256());
    if (ifExists === 'compare' && (stats.size !== this.bytes || !(await isSame()))) {
      throw differs(this.#final, stats.size, this.bytes);
    }
    await this.#discard();
    return true;
  }

  /** A file of another length need not be fetched to be compared. */
  async #requireSize(total: number | undefined): Promise<void> {
    if (this.#target.ifExists !== 'compare' || total === undefined) return;
    const stats = await this.#present();
    if (stats && stats.size !== total) throw differs(this.#final, stats.size, total);
  }

  #present(): Promise<Stats | undefined> {
    const { directory, final, ifExists } = this.#target;
    return presentAt(directory, final, ifExists);
  }

  /** The permissions of one's own file that is replaced stay, as with the shell's `>`. */
  async #keepMode(): Promise<void> {
    const old = await this.#present();
    if (!old?.isFile()) return;
    const { uid, gid } = await this.#file.stat();
    if (old.uid === uid && old.gid === gid) await this.#file.setMode(old.mode & 0o777);
  }

  async abandon(error: unknown): Promise<number> {
    const isUseful = this.#hasRecord && this.bytes > 0;
    await this.#file.close().catch(() => {});
    // What the disk could not take can't be resumed.
    if (isUseful && !this.#file.hasFailed && (this.#target.signal.aborted || isWorthKeeping(error))) return this.bytes;
    await this.#discard().catch(() => {});
    return 0;
  }

  async #discard(): Promise<void> {
    await this.#file.close();
    await this.#forget();
    await this.#target.directory.disk.remove(pathOf(this.#part));
  }

  async #forget(): Promise<void> {
    if (!this.#hasRecord) return;
    this.#hasRecord = false;
    await this.#target.directory.disk.remove(this.#record);
  }

  get #final(): string {
    return this.#target.directory.entry(this.#target.final);
  }

  get #record(): string {
    return this.#target.directory.entry(recordName(stemOf(this.#target.final), this.#part.id));
  }
}

/** Another run can resume after a temporary failure or a truncation alone. */
function isWorthKeeping(error: unknown): boolean {
  if (!(error instanceof FilingsError)) return false;
  const { code, retryable } = error;
  return code === 'temporary' || (code === 'integrity' && retryable);
}
