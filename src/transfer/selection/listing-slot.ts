import { setImmediate } from 'node:timers/promises';
import type { FilingsError } from '../../errors.ts';
import type { AccessionNumber } from '../../service/accession.ts';
import type { ListedFile } from '../../service/listing/listing.ts';
import type { Expanded } from './expanded.ts';
import type { NameCheck } from './name-check.ts';

/** So many names are matched before others have their turn. */
const SLICE = 1000;

/** Members in which services tell a file's size. */
const SIZES = ['size', 'file_size', 'fileSize', 'size_bytes', 'bytes', 'length', 'content_length'];

type ChosenFile = Pick<ListedFile, 'file_name'> & { readonly size: number | undefined };

/** A filing's place in the queue: waits to be listed, then gives its chosen files one by one. */
export class ListingSlot {
  readonly accession: AccessionNumber;
  #state: 'held' | 'asked' | 'here' | 'through' = 'held';
  #error: FilingsError | undefined;
  #chosen: readonly ChosenFile[] = [];
  #listed = 0;
  /** Of the files that it could give, where each has a size. */
  #bytes: number | undefined = 0;
  #given = 0;

  constructor(accession: AccessionNumber) {
    this.accession = accession;
  }

  get state(): 'held' | 'asked' | 'here' | 'through' {
    return this.#state;
  }

  /** How many files it could give now. */
  get waiting(): number {
    return this.#chosen.length - this.#given;
  }

  /** Bytes of the files that it could give now; undefined where the listing does not tell them. */
  get bytes(): number | undefined {
    return this.#bytes;
  }

  /** From now on its listing is under way. */
  asked(): void {
    this.#state = 'asked';
  }

  /** Takes the listing, and keeps what is chosen of it. */
  async take(files: readonly ListedFile[], chosen: (name: string) => boolean): Promise<void> {
    const kept: ChosenFile[] = [];
    for (let at = 0; at < files.length; at += SLICE) {
      if (at > 0) await setImmediate();
      for (const file of files.slice(at, at + SLICE)) {
        if (chosen(file.file_name)) kept.push({ file_name: file.file_name, size: listedSize(file) });
      }
    }
    this.#chosen = kept;
    this.#bytes = kept.reduce(addSize, 0 as number | undefined);
    this.#listed = files.length;
    this.#state = 'here';
  }

  /** The listing failed. */
  fail(error: FilingsError): void {
    this.#error = error;
    this.#state = 'here';
  }

  /** The next thing to tell of the filing; undefined while there is none. */
  next(check: NameCheck): Expanded | undefined {
    if (this.#state !== 'here') return undefined;
    const { accession } = this;
    const file = this.#chosen[this.#given];
    if (file !== undefined) {
      this.#given += 1;
      if (this.#bytes !== undefined) this.#bytes -= file.size ?? 0;
      return check.check({ accession, fileName: file.file_name, size: file.size, listed: true });
    }
    this.#state = 'through';
    const files = this.#chosen.length;
    this.#chosen = [];
    this.#given = 0;
    if (this.#error) return { kind: 'unlisted', accession, error: this.#error };
    return files === 0 ? { kind: 'unmatched', accession, files: this.#listed } : { kind: 'listed', accession, files };
  }
}

function addSize(sum: number | undefined, { size }: ChosenFile): number | undefined {
  return sum === undefined || size === undefined ? undefined : sum + size;
}

/** A file's size in bytes, when its listing tells one that can be one. */
export function listedSize(file: Readonly<Record<string, unknown>>): number | undefined {
  for (const member of SIZES) {
    const value = Object.hasOwn(file, member) ? file[member] : undefined;
    const size = typeof value === 'string' && /^[0-9]{1,16}$/.test(value) ? Number(value) : value;
    if (typeof size === 'number' && size >= 0 && Number.isSafeInteger(size)) return size;
  }
  return undefined;
}
