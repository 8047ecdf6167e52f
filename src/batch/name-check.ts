import { twinKey } from '../disk/file-name.ts';
import { FilingsError } from '../errors.ts';
import type { Item, NamedFile } from './item.ts';
import type { Layout } from './layout.ts';

const ASCII = /^[\0-\x7f]*$/;
const TWIN = 'on some disks it would be the same file as another one of this filing (by case or accents)';
const TWIN_HINT = 'download it by itself, under another name: -o PATH';

/** Decides what becomes of each name of a run: downloaded, refused, or known already. */
export class NameCheck {
  readonly #layout: Layout;
  /** By filing and folded name, the name itself; undefined for one that is its own folded name, as most are. */
  readonly #names = new Map<string, string | undefined>();
  readonly #refused = new Set<string>();

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  check(file: NamedFile): Item {
    const { accession, fileName, size, filing } = file;
    const placed = this.#layout.place(accession, fileName);
    if (placed.fault) return this.#refuse(file, placed.fault.reason, placed.fault.hint);
    const folded = ASCII.test(fileName) ? fileName.toLowerCase() : twinKey(fileName);
    const key = fileKey(accession, folded);
    if (!this.#names.has(key)) {
      // A copy: a piece of a line would hold the line.
      this.#names.set(key, folded === fileName ? undefined : Buffer.from(fileName).toString());
      return { kind: 'file', accession, fileName, path: placed.path, size, filing };
    }
    const first = this.#names.get(key) ?? folded;
    return first === fileName ? { ...file, kind: 'again' } : this.#refuse(file, TWIN, TWIN_HINT);
  }

  #refuse(file: NamedFile, reason: string, hint: string | undefined): Item {
    const { accession, fileName } = file;
    const key = fileKey(accession, fileName);
    if (this.#refused.has(key)) return { ...file, kind: 'again' };
    this.#refused.add(key);
    const error = new FilingsError('integrity', `file name '${fileName}' of ${accession}: ${reason}`, {
      ...(hint === undefined ? {} : { hint }),
    });
    return { ...file, kind: 'refused', error };
  }
}

/** Joined, not concatenated: as one flat text it takes half the memory, and there may be a million. */
export function fileKey(accession: string, name: string): string {
  return [accession, name].join(' ');
}
