import { twinKey } from '../disk/file-name.ts';
import { FilingsError } from '../errors.ts';
import type { AccessionNumber } from '../service/accession.ts';
import type { Expanded } from './expanded.ts';
import type { Layout } from './layout.ts';

/** A file by its name, from a line or a listing. */
export interface NamedFile {
  readonly accession: AccessionNumber;
  readonly fileName: string;
  readonly size: number | undefined;
  readonly listed: boolean;
}

const ASCII = /^[\0-\x7f]*$/;

/** Decides what becomes of each name of a run: fetched, refused, or known already. */
export class NameCheck {
  readonly #layout: Layout;
  /** By filing and folded name, the name itself; undefined for one that is its own folded name, as most are. */
  readonly #names = new Map<string, string | undefined>();
  readonly #refused = new Set<string>();

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /** Undefined: named a second time, of which nobody needs to hear. */
  check(file: NamedFile): Expanded | undefined {
    const { accession, fileName, size, listed } = file;
    const placed = this.#layout.place(accession, fileName);
    if (placed.fault) return this.#refuse(file, placed.fault.reason, placed.fault.hint);
    const folded = ASCII.test(fileName) ? fileName.toLowerCase() : twinKey(fileName);
    const key = keyOf(accession, folded);
    if (!this.#names.has(key)) {
      // A copy: a piece of a line would hold the line.
      this.#names.set(key, folded === fileName ? undefined : Buffer.from(fileName).toString());
      return { kind: 'file', accession, fileName, path: placed.path, size, listed };
    }
    const first = this.#names.get(key) ?? folded;
    if (first !== fileName) return this.#refuse(file, TWIN, TWIN_HINT);
    return listed ? { kind: 'again', accession, fileName } : undefined;
  }

  /** Once; a second time it is as known as any other name. */
  #refuse({ accession, fileName, listed }: NamedFile, reason: string, hint: string | undefined): Expanded | undefined {
    const key = keyOf(accession, fileName);
    if (this.#refused.has(key)) return listed ? { kind: 'again', accession, fileName } : undefined;
    this.#refused.add(key);
    const error = new FilingsError('integrity', `file name '${fileName}' of ${accession}: ${reason}`, {
      ...(hint === undefined ? {} : { hint }),
    });
    return { kind: 'refused', accession, fileName, error, listed };
  }
}

const TWIN = 'it may be one file with another one of the run on some disks, whatever its case and accents';
const TWIN_HINT = 'download it by itself, under another name: -o PATH';

/** Joined, not concatenated: as one flat text it takes half the memory, and there may be a million. */
function keyOf(accession: string, name: string): string {
  return [accession, name].join(' ');
}
