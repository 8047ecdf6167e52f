// A run must not download one file twice, nor write two files to one path. So every name of a run is checked here, in the
// order of the input: it is that of a new file or of a duplicate, or it is refused. A run may have millions of names, so
// the check remembers digests, which take the same memory however long a name is.
import { hash } from 'node:crypto';
import { foldName } from '../disk/file-name.ts';
import { FilingsError } from '../errors.ts';
import type { Item, NamedFile } from './item.ts';
import { ACCESSION_NO, type Layout } from './layout.ts';

export class NameCheck {
  readonly #layout: Layout;
  /** If the layout has the accession number in the path, files of two filings never share a path. */
  readonly #pathHasAccession: boolean;
  /** Identifies the file that was the first to use each path, by the digest of the folded path. */
  readonly #owners = new Map<string, string>();
  /** Digests of the names that were refused. */
  readonly #refused = new Set<string>();

  constructor(layout: Layout) {
    this.#layout = layout;
    this.#pathHasAccession = layout.template.includes(ACCESSION_NO);
  }

  check(file: NamedFile): Item {
    const { accession, fileName, size, filing } = file;
    const { path, fault } = this.#layout.pathFor(accession, fileName);
    if (fault) return this.#refuse(file, 'integrity', fault.reason, fault.hint);
    const foldedPath = foldName(path);
    const key = digest(foldedPath);
    // An owner is a filing and a spelling of the name, as a string, because an object would double the memory for each
    // name. Owners are compared only if their folded paths are equal, so six characters of each digest are enough, and
    // either is empty if the folded path says it already: the filing if the path has it, and the spelling if the path
    // is the folded path.
    const filingDigest = this.#pathHasAccession ? '' : shortDigest(accession);
    const owner = filingDigest + (foldedPath === path ? '' : shortDigest(fileName));
    const firstOwner = this.#owners.get(key);
    // If the owners are the same, so are the files. If only their filings are, this is another spelling of the first name.
    // Otherwise a file of another filing has the path.
    if (firstOwner === owner) return { ...file, kind: 'duplicate' };
    if (firstOwner?.startsWith(filingDigest)) {
      const reason = 'it differs from another name of this filing only in case or Unicode normalization';
      const hint = 'some file systems treat both as the same file: download this one alone with -o PATH';
      return this.#refuse(file, 'integrity', reason, hint);
    }
    if (firstOwner !== undefined) {
      const hint = 'use a --layout with {accession_no}, or download this file alone with -o PATH';
      return this.#refuse(file, 'local_io', 'another file of this run has the same path', hint);
    }
    this.#owners.set(key, owner);
    return { kind: 'file', accession, fileName, path, size, filing };
  }

  /** Returns the error for a name. If the name comes again, it is a duplicate, so that the error is reported only once. */
  #refuse(file: NamedFile, code: 'integrity' | 'local_io', reason: string, hint: string | undefined): Item {
    const { accession, fileName } = file;
    // JSON escapes lone surrogates. In UTF-8, which `hash` uses, all of them would be the same character. `check` hashes
    // without JSON, because a path that gets there has none: the layout refuses them.
    const key = digest(JSON.stringify([accession, fileName]));
    if (this.#refused.has(key)) return { ...file, kind: 'duplicate' };
    this.#refused.add(key);
    const subject = { name: `file name '${fileName}' of ${accession}` };
    return { ...file, kind: 'refused', error: new FilingsError(code, reason, { subject, hint }) };
  }
}

/**
 * Returns the first 12 bytes of a string's SHA-256, as one character each. Two of a billion names have the same ones with
 * a chance of 1 in 10^11. V8 copies such a short slice. Of a longer one it would keep the whole hash in memory.
 */
function digest(text: string): string {
  return hash('sha256', text, 'binary').slice(0, 12);
}

function shortDigest(text: string): string {
  return digest(text).slice(0, 6);
}
