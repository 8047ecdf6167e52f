// A run must not write one file twice, nor two files to one path. This check sees each name of a run once and decides
// whether it becomes a file, a duplicate or an error. It keeps a digest of each name, so that a name takes the same
// memory whatever its length.
import { hash } from 'node:crypto';
import { getHeapStatistics } from 'node:v8';
import { twinKey } from '../disk/file-name.ts';
import { FilingsError } from '../errors.ts';
import { LargeMap } from '../large-map.ts';
import { grouped } from '../text.ts';
import type { Item, NamedFile, PathOwner } from './item.ts';
import { ACCESSION_NO, type Layout } from './layout.ts';

/** The length of `0001234567-24-000001`. */
const ACCESSION_LENGTH = 20;
/** A short ASCII name: its capitals fit into a bit mask. */
const SHORT_ASCII = /^[\0-\x7f]{0,30}$/;
const TWIN = 'on some disks it would be the same file as another one of this filing (by case or accents)';
const TWIN_HINT = 'download it by itself, under another name: -o PATH';

/** Most names take less: a digest of 32 bytes and an entry of 28. Some also have a digest of their spelling. */
const HEAP_BYTES_PER_NAME = 95;
/** Heap of everything else, and of the Map that grows: V8 doubles its table. */
const OTHER_HEAP_BYTES = 100e6;

/** Decides for each name of a run whether it is downloaded, refused or already known. */
export class NameCheck {
  readonly #layout: Layout;
  /** Whether files of two filings may have the same path, because the layout has no accession number. */
  readonly #isShared: boolean;
  /**
   * The spelling of each name, by the digest of its filing and folded name. With a shared layout the key has no filing,
   * and the value begins with the filing that has the path.
   */
  readonly #names = new LargeMap<string, number | string>();
  /** Names that were refused, or whose path another filing has. Each is reported once. */
  readonly #reported = new LargeMap<string, true>();
  readonly #maxNames: number;

  constructor(layout: Layout, maxNames = maxNamesIn(getHeapStatistics().heap_size_limit)) {
    this.#layout = layout;
    this.#isShared = !layout.template.includes(ACCESSION_NO);
    this.#maxNames = maxNames;
  }

  /**
   * Returns the item for the next name. Throws `local_io` if there are more names than the heap has room for, because
   * V8 would end the process without a message.
   */
  check(file: NamedFile): Item {
    const { accession, fileName } = file;
    if (this.#names.size + this.#reported.size >= this.#maxNames) throw tooManyNames(this.#maxNames);
    const { path, fault } = this.#layout.pathFor(accession, fileName);
    if (fault) return this.#refuse(file, fault.reason, fault.hint);
    const folded = twinKey(fileName);
    const key = digest((this.#isShared ? '' : accession) + folded);
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
    if (this.#markReported(file)) return { ...file, kind: 'duplicate' };
    return fileItem(file, path, { accession: owner, isTwin: sharedEntry(owner, spelling) !== first });
  }

  #refuse(file: NamedFile, reason: string, hint: string | undefined): Item {
    const { accession, fileName } = file;
    if (this.#markReported(file)) return { ...file, kind: 'duplicate' };
    const error = new FilingsError('integrity', reason, {
      subject: { name: `file name '${fileName}' of ${accession}` },
      hint,
    });
    return { ...file, kind: 'refused', error };
  }

  /** Returns whether the file was reported before. */
  #markReported({ accession, fileName }: NamedFile): boolean {
    const key = digest(accession + fileName);
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

/** Returns the accession number itself for most names, so that its text is kept once for each filing. */
function sharedEntry(accession: string, spelling: number | string): string {
  return spelling === 0 ? accession : [accession, spelling].join('');
}

function ownerOf(entry: number | string): string {
  return `${entry}`.slice(0, ACCESSION_LENGTH);
}

function maxNamesIn(heapBytes: number): number {
  return Math.max(1, Math.floor((heapBytes - OTHER_HEAP_BYTES) / HEAP_BYTES_PER_NAME));
}

function tooManyNames(count: number): FilingsError {
  return new FilingsError('local_io', `more than ${grouped(count)} file names do not fit into the memory of Node`, {
    hint: 'allow it more (NODE_OPTIONS=--max-old-space-size=MEGABYTES), or split the input',
    stopsRun: true,
  });
}

/** The bytes of one SHA-256. One buffer serves all, because there may be millions of names. */
const DIGEST = Buffer.alloc(32);

/** Returns half of a SHA-256, as 16 characters: no two texts of a run have the same. */
function digest(text: string): string {
  // In UTF-8, names that differ only in an unpaired surrogate would be the same bytes. JSON escapes it.
  DIGEST.write(hash('sha256', JSON.stringify(text), 'binary'), 'latin1');
  // A slice of the longer text would keep all of it in memory.
  return DIGEST.toString('latin1', 0, 16);
}

/** Returns a value that differs for names with the same folded name: a bit for each capital, or a digest. */
function spellingOf(name: string): number | string {
  if (!SHORT_ASCII.test(name)) return digest(name);
  let capitals = 0;
  for (const { index } of name.matchAll(/[A-Z]/g)) capitals |= 1 << index;
  return capitals;
}
