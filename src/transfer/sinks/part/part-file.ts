import { GatheredFile } from '../../../disk/gathered-file.ts';
import { isNamed } from '../../../disk/plain-file.ts';
import type { Held, Validator } from '../../resume.ts';
import { giveFinalName, type Placed, type Placing } from './final-name.ts';
import { namesOf } from './part-name.ts';
import { dropQuietly, guarded, newPart, type PartPlace } from './part-place.ts';
import { RecordFile } from './record-file.ts';
import type { ResumeRecord } from './resume-record.ts';

/** Smaller bodies are fetched anew in the time that a record costs. */
const RECORDED_FROM_BYTES = 1 << 20;

/** A part of an earlier run, ready to be gone on with. */
interface Opened {
  readonly file: GatheredFile;
  readonly record: RecordFile;
  readonly of: ResumeRecord;
}

/**
 * The gathered bytes of one file beside its final name: `.NAME.<owner>.part`,
 * exclusive, and with a record for large bodies. Ends in `commit`, `keep` or `discard`.
 */
export class PartFile {
  readonly file: GatheredFile;
  readonly #place: PartPlace;
  readonly #base: string;
  #validator: Validator | undefined;
  #total: number | undefined;
  #address: string | undefined;
  #record: RecordFile | undefined;

  private constructor(place: PartPlace, base: string, file: GatheredFile) {
    this.#place = place;
    this.#base = base;
    this.file = file;
    file.onFlushed = (bytes) => void this.#record?.note(bytes);
    place.heartbeat.add(file, place.leftovers.partNamesFor(place.final));
  }

  /** A new, empty part. Throws `local_io`. */
  static create(place: PartPlace): Promise<PartFile> {
    return guarded(place, async () => {
      const { base, handle } = await newPart(place);
      return new PartFile(place, base, GatheredFile.over(handle));
    });
  }

  /** Goes on with a part of an earlier run, which has a name of this run's by now. Throws `local_io`. */
  static over(place: PartPlace, base: string, open: () => Promise<Opened>): Promise<PartFile> {
    return guarded(place, async () => {
      const { file, record, of } = await open();
      const part = new PartFile(place, base, file);
      part.#record = record;
      part.#validator = of.validator;
      part.#total = of.total ?? undefined;
      part.#address = of.address;
      return part;
    });
  }

  /** What an attempt can build on. */
  get held(): Held {
    return { bytes: this.file.size, validator: this.#validator, total: this.#total, address: this.#address };
  }

  /** A whole body is about to come: starts from byte 0 and remembers what it is. */
  begin(validator: Validator | undefined, total: number | undefined, address: string): Promise<void> {
    return guarded(this.#place, async () => {
      if (this.#record) {
        await this.#forget();
        // Or a power cut could bring the old record back, beside the first bytes of another version.
        await this.#place.directory.sync();
      }
      if (this.file.size > 0) await this.file.restart();
      this.#validator = validator;
      this.#total = total;
      this.#address = address;
      if (!validator || (total !== undefined && total <= RECORDED_FROM_BYTES)) return;
      await this.#remember(validator);
    });
  }

  /** The rest of a body is about to come, whose total is now known. */
  append(total: number): void {
    this.#total = total;
  }

  write(chunks: readonly Buffer[]): Promise<void> {
    return guarded(this.#place, () => this.file.write(chunks));
  }

  /**
   * Flushes, puts the file under its final name, flushes the directory. The part is gone then, but for
   * another's that has its name. Throws `local_io`, the signal's reason.
   */
  commit({ exclusive, mode }: Placing, signal: AbortSignal): Promise<Placed> {
    return guarded(this.#place, async () => {
      if (mode !== undefined) await this.file.setMode(mode);
      await this.file.flush();
      const there = await this.#isThere();
      await this.#close();
      // Before the rename, so that a kill between the two leaves nothing over; what can't be removed costs nothing.
      await this.#forget().catch(() => {});
      if (!there) return 'lost';
      const placed = await giveFinalName(this.#place, this.#base, exclusive, signal);
      if (placed === 'placed') await this.#place.directory.sync();
      if (placed === 'taken') await dropQuietly(this.#place, this.#part);
      return placed;
    });
  }

  /** Leaves the part for another run when it can be resumed, otherwise drops it. Gives how many bytes it left; never throws. */
  async keep(): Promise<number> {
    return (await this.#kept()) ? this.file.size : this.discard().then(() => 0);
  }

  async #kept(): Promise<boolean> {
    const validator = this.#validator;
    if (!this.#record || !validator || this.file.size === 0) return false;
    try {
      await this.file.flush();
      if (!(await this.#isThere())) return false;
      // Somebody may have cleaned up.
      if (!(await this.#record.isThere(this.#place.directory.disk))) await this.#remember(validator);
      await this.#record?.note(this.file.size);
      await this.#close();
      await this.#record?.close();
      return true;
    } catch {
      // What the disk could not take can't be gone on with.
      return false;
    }
  }

  /** Leaves nothing behind. Never throws. */
  async discard(): Promise<void> {
    const there = await this.#isThere().catch(() => true);
    await this.#close().catch(() => {});
    await Promise.all([there ? dropQuietly(this.#place, this.#part) : undefined, this.#forget().catch(() => {})]);
  }

  get #part(): string {
    return this.#place.directory.entry(namesOf(this.#base).part);
  }

  /** Whether the part's name is still this file's: another machine may take it when its owner sleeps for long. */
  #isThere(): Promise<boolean> {
    return isNamed(this.#place.directory.disk, this.#part, this.file);
  }

  async #remember(validator: Validator): Promise<void> {
    const { directory, identity } = this.#place;
    const path = directory.entry(namesOf(this.#base).resume);
    await this.#record?.close();
    const of = { validator, total: this.#total ?? null, address: this.#address ?? '' };
    this.#record = await RecordFile.create(path, { v: 1, ...identity, ...of });
  }

  async #forget(): Promise<void> {
    const record = this.#record;
    this.#record = undefined;
    await record?.drop();
  }

  async #close(): Promise<void> {
    this.#place.heartbeat.remove(this.file);
    await this.file.close();
  }
}
