import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { OwnFiles } from '../../own-files.ts';
import { isAccession } from '../../service/accession.ts';
import type { Archive, ServedFile } from './archive.ts';
import type { FirstLook } from './first-look.ts';

const FOLDER = 'samples';

/** Filings to serve. */
export interface Filings {
  /** Where they are; for people alone where there is an archive. */
  readonly directory: string;
  readonly archive?: Archive;
  /** What is known of them without looking. */
  readonly look?: FirstLook;
}

/** The sample filings that the program brings along: a directory beside it, or an archive within it. */
export function sampleFilings(own: OwnFiles): Filings {
  const directory = own.placeOf(FOLDER);
  if (directory !== undefined) return { directory };
  const accession = own
    .below(FOLDER)
    .map((path) => path.split('/')[1] ?? '')
    .find(isAccession);
  return { directory: FOLDER, archive: archiveWithin(own), look: accession === undefined ? {} : { accession } };
}

function archiveWithin(own: OwnFiles): Archive {
  const paths = (accession: string) => own.below(`${FOLDER}/${accession}`);
  return {
    list: async (accession) => paths(accession).map((path) => ({ name: basename(path), size: own.read(path).length })),
    async open(accession, name) {
      const path = `${FOLDER}/${accession}/${name}`;
      return paths(accession).includes(path) ? inMemory(own.read(path)) : undefined;
    },
  };
}

function inMemory(bytes: Buffer): ServedFile {
  return {
    size: bytes.length,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    modifiedAt: Number.POSITIVE_INFINITY,
    async *read(offset, length) {
      yield bytes.subarray(offset, offset + length);
    },
    async close() {},
  };
}
