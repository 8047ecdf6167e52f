// A run must not write one file twice, nor two files to one path. This check sees each name of a run once and decides
// whether it becomes a file, a duplicate or an error. It keeps a digest of each path, so that a name takes the same
// memory whatever its length.
import { hash } from 'node:crypto';
import { foldName } from '../disk/file-name.ts';
import { FilingsError } from '../errors.ts';
import type { Item, NamedFile } from './item.ts';
import { ACCESSION_NO, type Layout } from './layout.ts';

/** Decides for each name of a run whether it is downloaded, refused or already known. */
export class NameCheck {
  readonly #layout: Layout;
  /** Whether a path names the filing, so that files of two filings never share one. */
  readonly #hasFiling: boolean;
  /** A number for each filing and exact name, by the digest of the path without case and accents. */
  readonly #files = new Map<string, number>();
  readonly #refused = new Set<string>();

  constructor(layout: Layout) {
    this.#layout = layout;
    this.#hasFiling = layout.template.includes(ACCESSION_NO);
  }

  /** Returns the item for the next name. */
  check(file: NamedFile): Item {
    const { accession, fileName, size, filing } = file;
    const { path, fault } = this.#layout.pathFor(accession, fileName);
    if (fault) return this.#refuse(file, 'integrity', fault.reason, fault.hint);
    const folded = foldName(path);
    const key = digest(folded).toString('latin1', 0, 16);
    // Only names with the same path are compared by this number, so 30 bits tell them apart.
    const isOnly = folded === path && this.#hasFiling;
    const name = isOnly ? 0 : digest(`${accession}/${fileName}`).readUInt32LE() >>> 2;
    const filingBits = this.#hasFiling ? 0 : bitsOf(accession);
    const id = filingBits * 2 ** 30 + name;
    const first = this.#files.get(key);
    if (first === id) return { ...file, kind: 'duplicate' };
    if (first !== undefined && Math.floor(first / 2 ** 30) === filingBits) {
      const hint = 'some file systems ignore case and accents: download this file alone with -o PATH';
      return this.#refuse(file, 'integrity', 'another name of this filing may be the same file', hint);
    }
    if (first !== undefined) {
      const hint = 'use a --layout with {accession_no}, or download this file alone with -o PATH';
      return this.#refuse(file, 'local_io', 'another file of this run has the same path', hint);
    }
    this.#files.set(key, id);
    return { kind: 'file', accession, fileName, path, size, filing };
  }

  /** A name that is refused is reported once, too. */
  #refuse(file: NamedFile, code: 'integrity' | 'local_io', reason: string, hint: string | undefined): Item {
    const { accession, fileName } = file;
    const key = digest(`${accession}/${fileName}`).toString('latin1', 0, 16);
    if (this.#refused.has(key)) return { ...file, kind: 'duplicate' };
    this.#refused.add(key);
    const subject = { name: `file name '${fileName}' of ${accession}` };
    return { ...file, kind: 'refused', error: new FilingsError(code, reason, { subject, hint }) };
  }
}

/** Returns 20 bits that tell filings apart: whether two names are of one filing decides only about the error. */
function bitsOf(accession: string): number {
  return Number(accession.replaceAll('-', '')) % 1_048_573;
}

/** The bytes of one SHA-256. One buffer serves all, because there may be millions of names. */
const DIGEST = Buffer.alloc(32);

/** Returns the SHA-256 of a text, until the next call. */
function digest(text: string): Buffer {
  // In UTF-8, names that differ only in an unpaired surrogate would be the same bytes. JSON escapes it.
  DIGEST.write(hash('sha256', JSON.stringify(text), 'binary'), 'latin1');
  return DIGEST;
}
