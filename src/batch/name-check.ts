import { hash } from 'node:crypto';
import { twinKey } from '../disk/file-name.ts';
import { FilingsError } from '../errors.ts';
import type { Item, NamedFile } from './item.ts';
import type { Layout } from './layout.ts';

/** Its capitals are bits of a number, and it takes no more room than a digest. */
const SHORT = /^[\0-\x7f]{0,30}$/;
const TWIN = 'on some disks it would be the same file as another one of this filing (by case or accents)';
const TWIN_HINT = 'download it by itself, under another name: -o PATH';

/** Decides what becomes of each name of a run: downloaded, refused, or known already. */
export class NameCheck {
  readonly #layout: Layout;
  /** By filing and folded name, how it is spelled. */
  readonly #names = new Map<string, number | string>();
  readonly #refused = new Set<string>();

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  check(file: NamedFile): Item {
    const { accession, fileName, size, filing } = file;
    const placed = this.#layout.place(accession, fileName);
    if (placed.fault) return this.#refuse(file, placed.fault.reason, placed.fault.hint);
    const folded = twinKey(fileName);
    const key = SHORT.test(folded) ? fileKey(accession, folded) : digest(accession + folded);
    const first = this.#names.get(key);
    const spelling = folded === fileName ? 0 : spellingOf(fileName);
    if (first !== undefined)
      return first === spelling ? { ...file, kind: 'again' } : this.#refuse(file, TWIN, TWIN_HINT);
    this.#names.set(key, spelling);
    return { kind: 'file', accession, fileName, path: placed.path, size, filing };
  }

  #refuse(file: NamedFile, reason: string, hint: string | undefined): Item {
    const { accession, fileName } = file;
    const key = fileKey(accession, fileName);
    if (this.#refused.has(key)) return { ...file, kind: 'again' };
    this.#refused.add(key);
    const error = new FilingsError('integrity', `file name '${fileName}' of ${accession}: ${reason}`, { hint });
    return { ...file, kind: 'refused', error };
  }
}

/** For a long text, so that it takes no more room than a short one; two texts never have the same digest. */
function digest(text: string): string {
  return hash('sha256', text, 'buffer').toString('latin1', 0, 16);
}

/** Of a short name its capitals, a bit each, which take no room. */
function spellingOf(name: string): number | string {
  if (!SHORT.test(name)) return digest(name);
  let capitals = 0;
  for (const { index } of name.matchAll(/[A-Z]/g)) capitals |= 1 << index;
  return capitals;
}

/** Joined, not concatenated: as one flat text it takes half the memory, and there may be a million. */
export function fileKey(accession: string, name: string): string {
  return [accession, name].join(' ');
}
