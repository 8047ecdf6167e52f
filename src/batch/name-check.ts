// Finds out whether each name of a run, in the order of the input, is a new file, a duplicate, or to be refused, so
// that no file is downloaded twice and no two files are written to one path. Paths are compared after folding: `A.htm`
// and `a.htm` have the same folded path, because some file systems treat them as the same file.
import { foldName } from '../disk/file-name.ts';
import { digestOf } from '../disk/sha256.ts';
import { FilingsError } from '../errors.ts';
import { shortened } from '../text.ts';
import type { Item, NamedFile } from './item.ts';
import { ACCESSION_NO, type Layout } from './layout.ts';

/** `protectedPaths` has what messages call each file that must stay, by its folded path. */
export function createNameCheck(
  { template, pathFor }: Layout,
  protectedPaths: ReadonlyMap<string, string>,
): (file: NamedFile) => Item {
  /** Whether files of two filings never share a path. */
  const pathHasAccession = template.includes(ACCESSION_NO);
  /** Maps the digest of each folded path to a string that identifies the first file with this path, its owner. */
  const owners = new Map<string, string>();
  const refused = new Set<string>();

  /** Returns a `refused` item, or a `duplicate` if the name was refused before: its error is reported only once. */
  const refuse = (file: NamedFile, code: 'integrity' | 'local_io', reason: string, hint: string | undefined): Item => {
    const { accession, fileName } = file;
    // JSON escapes lone surrogates, which would all be the same character in UTF-8. No path contains one.
    const key = digestOf(JSON.stringify([accession, fileName]));
    if (refused.has(key)) return { ...file, kind: 'duplicate' };
    refused.add(key);
    const subject = { name: `file name '${shortened(fileName, 255)}' of ${accession}` };
    return { ...file, kind: 'refused', error: new FilingsError(code, reason, { subject, hint }) };
  };

  return (file) => {
    const { accession, fileName, size, filing } = file;
    const { path, fault } = pathFor(accession, fileName);
    if (fault) return refuse(file, 'integrity', fault.reason, fault.hint);
    const foldedPath = foldName(path);
    const label = protectedPaths.get(foldedPath);
    if (label !== undefined) {
      const hint = `choose another directory, or another file for ${label}`;
      return refuse(file, 'integrity', `it is the same file as ${label}`, hint);
    }
    const key = digestOf(foldedPath);
    // An owner is a digest of the filing, followed by a digest of the name as it is spelled. It is a string, because an
    // object would double the memory for each name. Owners are compared only if their folded paths are equal, so six
    // characters of each digest are enough. A digest is left out if the path identifies the filing, or if the path is
    // the only spelling that folding does not change.
    const filingDigest = pathHasAccession ? '' : shortDigest(accession);
    const owner = filingDigest + (foldedPath === path ? '' : shortDigest(fileName));
    const firstOwner = owners.get(key);
    // If only the filings of the owners are equal, this name is another spelling of the first name. Otherwise a file of
    // another filing has the path.
    if (firstOwner === owner) return { ...file, kind: 'duplicate' };
    // With an empty `filingDigest`, this is true of every first owner. That is right, because paths with accession
    // numbers are equal only within a filing.
    if (firstOwner?.startsWith(filingDigest)) {
      const reason = 'it differs from another name of this filing only in case or Unicode normalization';
      const hint = 'some file systems treat both as the same file: download this one alone with -o PATH';
      return refuse(file, 'integrity', reason, hint);
    }
    if (firstOwner !== undefined) {
      const hint = 'use a --layout with {accession_no}, or download this file alone with -o PATH';
      return refuse(file, 'local_io', 'another file of this run has the same path', hint);
    }
    owners.set(key, owner);
    return { kind: 'file', accession, fileName, path, size, filing };
  };
}

function shortDigest(text: string): string {
  return digestOf(text).slice(0, 6);
}
