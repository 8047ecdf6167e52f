import type { Hash } from 'node:crypto';
import type { Directory } from '../../disk/directory.ts';
import { diskFailure } from '../../disk/failure.ts';
import { sha256OfBytes } from '../../disk/sha256.ts';
import { WrittenFile } from '../../disk/written-file.ts';
import { FilingsError } from '../../errors.ts';
import { differs, type IfExists, judge } from '../present.ts';
import type { Held, Version } from '../resume.ts';
import type { Sink } from '../sinks/sink.ts';
import { hasSameBytes, keptMode, type OwnPart, type Placement, pathOf, place } from './commit.ts';
import type { Leftovers } from './leftovers.ts';
import { newId, recordName, stemOf } from './owner.ts';
import { type Identity, type ResumeRecord, writeRecord } from './record.ts';

/** Smaller bodies are fetched anew in the time that a record costs. */
const RECORDED_FROM_BYTES = 1 << 20;

/** A file that is to get a name in a directory. */
export interface PartTarget {
  readonly directory: Directory;
  readonly leftovers: Leftovers;
  readonly final: string;
  readonly identity: Identity;
  readonly ifExists: IfExists;
  /** The size of the file that has the name already. Bytes. */
  readonly existing: number | undefined;
  /** Whether its hash will be asked for. */
  readonly isHashed: boolean;
  readonly signal: AbortSignal;
}

/**
 * A file on disk as a sink: its bytes go into a part beside its final name, exclusive, with a record for large bodies.
 * Complete and proved, it is flushed, named, and the directory flushed.
 */
export class PartFile implements Sink {
  readonly restartable = true;
  readonly #target: PartTarget;
  readonly #part: OwnPart;
  readonly #file: WrittenFile;
  #version: Version;
  #hasRecord: boolean;
  /** Of all bytes; undefined where it is not asked for, or an earlier run has written some of them. */
  #hash: Hash | undefined;

  private constructor(target: PartTarget, id: string, file: WrittenFile, record?: ResumeRecord) {
    const { directory, final, leftovers } = target;
    this.#target = target;
    this.#part = { directory, final, id, run: leftovers.run };
    this.#file = file;
    const { validator, total, address } = record ?? {};
    this.#version = { validator, total: total ?? undefined, address };
    this.#hasRecord = record !== undefined;
  }

  /** Resumes a part of an earlier run where there is one. Throws `local_io`. */
  static async open(target: PartTarget): Promise<PartFile> {
    const { directory, leftovers, final, identity } = target;
    const claimed = await leftovers.claim(final, identity);
    if (claimed) {
      const file = new WrittenFile(claimed.fd, directory.disk, claimed.bytes);
      return new PartFile(target, claimed.id, file, claimed.record);
    }
    const id = newId(leftovers.run.random());
    try {
      const fd = await directory.disk.create(pathOf({ directory, final, id, run: leftovers.run }), 0o666);
      return new PartFile(target, id, new WrittenFile(fd, directory.disk));
    } catch (error) {
      throw diskFailure(error, directory.entry(final));
    }
  }

  get held(): Held {
    return { bytes: this.#file.size, ...this.#version };
  }

  begin(version: Version): Promise<void> {
    const { validator, total } = version;
    const { ifExists, existing } = this.#target;
    return this.#guarded(async () => {
      // A file of another length is another file: that need not be fetched.
      const known = existing !== undefined && total !== undefined;
      if (known && ifExists === 'compare' && total !== existing) throw differs(this.#final, existing, total);
      await this.#forget();
      if (this.#file.size > 0) await this.#file.restart();
      if (this.#target.isHashed) this.#hash = (await import('node:crypto')).createHash('sha256');
      this.#version = version;
      if (!validator || (total !== undefined && total <= RECORDED_FROM_BYTES)) return;
      // What a full disk leaves of it is removed, too.
      this.#hasRecord = true;
      this.#hasRecord = await writeRecord(this.#record, this.#target.identity, version);
    });
  }

  append(total: number): void {
    this.#version = { ...this.#version, total };
  }

  async write(chunks: readonly Buffer[]): Promise<void> {
    await this.#guarded(() => this.#file.write(chunks));
    if (this.#hash) for (const chunk of chunks) this.#hash.update(chunk);
  }

  /** A part that an earlier run began is read: a hash can't be saved. */
  async sha256(): Promise<string> {
    if (this.#hash) return this.#hash.copy().digest('hex');
    return sha256OfBytes(this.#file.read(), this.#final, this.#target.signal);
  }

  finish(): Promise<Placement> {
    return this.#guarded(() => this.#commit());
  }

  /** The part is gone then, whatever it says. */
  async #commit(): Promise<Placement> {
    const { ifExists, existing, signal } = this.#target;
    if (ifExists === 'overwrite') await this.#keepMode();
    // Compared before it is flushed: most often it goes again.
    if (existing !== undefined && ifExists === 'compare' && (await this.#isTaken())) return 'taken';
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

  /** Whether a file has the name that may keep it: the part goes then. Throws `local_io` for anything else that has it. */
  async #isTaken(): Promise<boolean> {
    const { directory, ifExists, signal } = this.#target;
    const stats = await directory.disk.look(this.#final);
    if (!stats) return false;
    const { kind } = judge(stats, ifExists, this.#final);
    const same = kind === 'keep' || (await hasSameBytes(this.#file, this.#final, signal));
    if (!same) throw differs(this.#final, stats.size, this.#file.size);
    await this.#discard();
    return true;
  }

  async #keepMode(): Promise<void> {
    const stats = await this.#target.directory.disk.look(this.#final);
    const replaced = stats && judge(stats, 'overwrite', this.#final).stats;
    const mode = replaced && keptMode(replaced, await this.#file.stat());
    if (mode !== undefined) await this.#file.setMode(mode);
  }

  async abandon(error: unknown): Promise<number> {
    const isUseful = this.#hasRecord && this.#file.size > 0;
    await this.#file.close().catch(() => {});
    // What the disk could not take can't be resumed.
    if (isUseful && !this.#file.hasFailed && (this.#target.signal.aborted || isWorthKeeping(error))) {
      return this.#file.size;
    }
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

  /** Errors of the disk name the final path. */
  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw diskFailure(error, this.#final);
    }
  }
}

/** After a temporary failure, a truncation or a signal another run can resume; after any other the bytes are of no use. */
function isWorthKeeping(error: unknown): boolean {
  if (!(error instanceof FilingsError)) return false;
  const { code, retryable } = error;
  return code === 'temporary' || code === 'interrupted' || code === 'limit' || (code === 'integrity' && retryable);
}
