import { hash } from 'node:crypto';
import { getHeapStatistics } from 'node:v8';
import { twinKey } from '../disk/file-name.ts';
import { FilingsError } from '../errors.ts';
import { LargeMap } from '../large-map.ts';
import { grouped } from '../text.ts';
import type { Item, NamedFile, PathOwner } from './item.ts';
import { ACCESSION_NO, type Layout } from './layout.ts';

/** `0001234567-24-000001`. */
const ACCESSION_LENGTH = 20;
/** Its capitals are bits of a number, and it takes no more room than a digest. */
const SHORT = /^[\0-\x7f]{0,30}$/;
const TWIN = 'on some disks it would be the same file as another one of this filing (by case or accents)';
const TWIN_HINT = 'download it by itself, under another name: -o PATH';

/** What a name takes of the heap, and what all else takes, with a Map that grows. Bytes. */
const HEAP_BYTES_PER_NAME = 95;
const OTHER_HEAP_BYTES = 100e6;

/** Decides what becomes of each name of a run: downloaded, refused, or known already. */
export class NameCheck {
  readonly #layout: Layout;
  /** Two filings never have the same path if the layout has the accession number. */
  readonly #isShared: boolean;
  /**
   * How each name is spelled, by filing and folded name. With a shared layout the paths differ only by the name: then
   * it is the accession number and the spelling, by the folded name alone.
   */
  readonly #names = new LargeMap<string, number | string>();
  /** Names that were refused, or whose path another filing has: reported once. */
  readonly #reported = new LargeMap<string, true>();
  readonly #maxNames: number;

  constructor(layout: Layout, maxNames = namesThatFit(getHeapStatistics().heap_size_limit)) {
    this.#layout = layout;
    this.#isShared = !layout.template.includes(ACCESSION_NO);
    this.#maxNames = maxNames;
  }

  /** Throws `local_io` if there are more names than the heap has room for: V8 would end the process without a message. */
  check(file: NamedFile): Item {
    const { accession, fileName } = file;
    if (this.#names.size + this.#reported.size >= this.#maxNames) throw tooManyNames(this.#maxNames);
    const { path, fault } = this.#layout.place(accession, fileName);
    if (fault) return this.#refuse(file, fault.reason, fault.hint);
    const folded = twinKey(fileName);
    const scope = this.#isShared ? '' : accession;
    const key = SHORT.test(folded) ? fileKey(scope, folded) : digest(scope + folded);
    const first = this.#names.get(key);
    const spelling = folded === fileName ? 0 : spellingOf(fileName);
    const entry = this.#isShared ? sharedEntry(accession, spelling) : spelling;
    if (first === entry) return { ...file, kind: 'duplicate' };
    if (first === undefined) {
      this.#names.set(key, entry);
      return fileItem(file, path, undefined);
    }
    const owner = this.#isShared ? ownerOf(first) : accession;
    if (owner === accession) return this.#refuse(file, TWIN, TWIN_HINT);
    if (this.#isReported(file)) return { ...file, kind: 'duplicate' };
    return fileItem(file, path, { accession: owner, isTwin: sharedEntry(owner, spelling) !== first });
  }

  #refuse(file: NamedFile, reason: string, hint: string | undefined): Item {
    const { accession, fileName } = file;
    if (this.#isReported(file)) return { ...file, kind: 'duplicate' };
    const error = new FilingsError('integrity', reason, {
      subject: { name: `file name '${fileName}' of ${accession}` },
      hint,
    });
    return { ...file, kind: 'refused', error };
  }

  /** False once for each file. */
  #isReported({ accession, fileName }: NamedFile): boolean {
    const key = fileKey(accession, fileName);
    const isReported = this.#reported.has(key);
    this.#reported.set(key, true);
    return isReported;
  }
}

function fileItem(
  { accession, fileName, size, filing }: NamedFile,
  path: string,
  pathOwner: PathOwner | undefined,
): Item {
  return { kind: 'file', accession, fileName, path, size, filing, pathOwner };
}

/** The accession number itself for most names, so that its text is kept once for each filing. */
function sharedEntry(accession: string, spelling: number | string): string {
  return spelling === 0 ? accession : [accession, spelling].join('');
}

function ownerOf(entry: number | string): string {
  return `${entry}`.slice(0, ACCESSION_LENGTH);
}

function namesThatFit(heapBytes: number): number {
  return Math.max(1, Math.floor((heapBytes - OTHER_HEAP_BYTES) / HEAP_BYTES_PER_NAME));
}

function tooManyNames(count: number): FilingsError {
  return new FilingsError('local_io', `more than ${grouped(count)} file names do not fit into the memory of Node`, {
    hint: 'allow it more (NODE_OPTIONS=--max-old-space-size=MEGABYTES), or split the input',
    stopsRun: true,
  });
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
