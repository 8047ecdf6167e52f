import { rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Directory } from '../disk/directory.ts';
import { diskFailure } from '../disk/failure.ts';
import { GatheredFile } from '../disk/gathered-file.ts';
import type { Owner } from '../disk/owner.ts';
import { placeNew } from '../disk/place-new.ts';
import type { Leftover } from './leftovers.ts';
import { partNames } from './part-name.ts';
import type { Held, Validator } from './resume.ts';
import { type Identity, noteFlushed, readRecord, writeRecord } from './resume-record.ts';
import type { Sink } from './transfer.ts';

/** Smaller bodies are fetched anew in the time that a record costs. */
const RECORDED_FROM_BYTES = 1 << 20;

/** Where a part lives, and for which file. */
export interface PartPlace {
  readonly directory: Directory;
  readonly final: string;
  readonly owner: Owner;
  readonly serial: string;
  readonly identity: Identity;
}

/**
 * The gathered bytes of one file beside its final name: `.NAME.<owner>.part`,
 * exclusive, and with a record for large bodies. Ends in `commit`, `keep` or `discard`.
 */
export class PartFile implements Sink {
  readonly restartable = true;
  readonly #place: PartPlace;
  readonly #part: string;
  readonly #record: string;
  #file: GatheredFile;
  #validator: Validator | undefined;
  #total: number | undefined;
  #recorded: boolean;

  private constructor(place: PartPlace, file: GatheredFile, held: Omit<Held, 'bytes'>, recorded: boolean) {
    const names = partNames(place.final, place.owner, place.serial);
    this.#place = place;
    this.#part = place.directory.entry(names.part);
    this.#record = place.directory.entry(names.resume);
    this.#file = file;
    this.#validator = held.validator;
    this.#total = held.total;
    this.#recorded = recorded;
  }

  /** A new, empty part. Throws `local_io`. */
  static async create(place: PartPlace): Promise<PartFile> {
    const { part, resume } = partNames(place.final, place.owner, place.serial);
    const record = place.directory.entry(resume);
    try {
      const file = await GatheredFile.create(place.directory.entry(part), (bytes) => noteQuietly(record, bytes));
      return new PartFile(place, file, { validator: undefined, total: undefined }, false);
    } catch (error) {
      throw diskFailure(error, join(place.directory.path, place.final));
    }
  }

  /**
   * Goes on with a dead process's part: one atomic rename to a name of our own
   * decides who gets it. Undefined when another run was first, or it can't be used.
   */
  static async takeOver(place: PartPlace, leftover: Leftover): Promise<PartFile | undefined> {
    const { directory } = place;
    const names = partNames(place.final, place.owner, place.serial);
    const part = directory.entry(names.part);
    const record = directory.entry(names.resume);
    try {
      await rename(directory.entry(leftover.part), part);
      await rename(directory.entry(leftover.resume), record);
    } catch {
      await dropQuietly(part);
      return undefined;
    }
    const known = await readRecord(record, place.identity);
    // After a reboot the tail of the file may be zeros: only what was flushed counts.
    const trusted = known && leftover.rebooted ? Math.min(known.flushed, leftover.bytes) : leftover.bytes;
    if (!known || trusted === 0) {
      await Promise.all([dropQuietly(part), dropQuietly(record)]);
      return undefined;
    }
    const { validator, total } = known.record;
    try {
      const file = await GatheredFile.continue(part, trusted, (bytes) => noteQuietly(record, bytes));
      return new PartFile(place, file, { validator, total: total ?? undefined }, true);
    } catch (error) {
      throw diskFailure(error, join(directory.path, place.final));
    }
  }

  /** What an attempt can build on. */
  get held(): Held {
    return { bytes: this.#file.size, validator: this.#validator, total: this.#total };
  }

  /** A whole body is about to come: starts from byte 0 and remembers what it is. */
  async begin(validator: Validator | undefined, total: number | undefined): Promise<void> {
    await this.#guard(async () => {
      if (this.#file.size > 0) await this.#file.restart();
      this.#validator = validator;
      this.#total = total;
      if (this.#recorded) await unlink(this.#record);
      this.#recorded = false;
      if (!validator || (total !== undefined && total <= RECORDED_FROM_BYTES)) return;
      // Before it is whole: one that could not be written must go, too.
      this.#recorded = true;
      await writeRecord(this.#record, { v: 1, ...this.#place.identity, validator, total: total ?? null });
    });
  }

  /** The rest of a body is about to come, whose total is now known. */
  append(total: number): void {
    this.#total = total;
  }

  async write(chunks: readonly Buffer[]): Promise<void> {
    await this.#guard(() => this.#file.write(chunks));
  }

  /** The path under which the bytes can be read meanwhile. */
  get path(): string {
    return this.#part;
  }

  /**
   * Flushes, puts the file under its final name, flushes the directory. `exclusive`:
   * false when something stands there already, and the part is gone. `mode`: the
   * permissions it is to have, unless new ones. Throws `local_io`.
   */
  async commit(exclusive: boolean, mode?: number): Promise<boolean> {
    const { directory, final } = this.#place;
    return this.#guard(async () => {
      if (mode !== undefined) await this.#file.setMode(mode);
      await this.#file.flush();
      await this.#file.close();
      // Before the rename, so that a kill between the two leaves nothing over.
      if (this.#recorded) await unlink(this.#record);
      this.#recorded = false;
      const placed = exclusive ? await placeNew(this.#part, directory.entry(final)) : true;
      if (!exclusive) await rename(this.#part, directory.entry(final));
      if (placed) await directory.sync();
      return placed;
    });
  }

  /** Leaves the part for another run when it can be resumed, otherwise drops it. Never throws. */
  async keep(): Promise<void> {
    if (!this.#recorded || this.#file.size === 0) return this.discard();
    try {
      await this.#file.flush();
      noteQuietly(this.#record, this.#file.size);
      await this.#file.close();
    } catch {
      // What the disk could not take can't be gone on with.
      await this.discard();
    }
  }

  /** Leaves nothing behind. Never throws. */
  async discard(): Promise<void> {
    await this.#file.close().catch(() => {});
    await Promise.all([dropQuietly(this.#part), this.#recorded ? dropQuietly(this.#record) : undefined]);
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw diskFailure(error, join(this.#place.directory.path, this.#place.final));
    }
  }
}

function noteQuietly(record: string, bytes: number): void {
  try {
    noteFlushed(record, bytes);
  } catch {
    // Without the note a reboot costs more bytes, nothing else.
  }
}

async function dropQuietly(path: string): Promise<void> {
  await unlink(path).catch(() => {});
}
