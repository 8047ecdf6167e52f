import { createHash } from 'node:crypto';
import type { FilePlan, Plan } from './plan.ts';

/** A file of the service, of which there are several versions in the course of a schedule. */
export interface Filed extends FilePlan {
  readonly accession: string;
  readonly name: string;
  version: number;
}

/** All that the service has. */
export function archiveOf({ filings }: Plan): readonly Filed[] {
  return filings.flatMap((files, filing) =>
    files.map((file, at) => ({ ...file, accession: accessionOf(filing), name: `f${at}.htm`, version: 1 })),
  );
}

export function accessionOf(filing: number): string {
  return `0001234567-24-${String(filing + 1).padStart(6, '0')}`;
}

/** The bytes of a version: two versions hardly share one at any place, so that a mixture shows wherever it begins. */
export function bytesOf({ accession, name, size }: Filed, version: number): Buffer {
  const pattern = createHash('sha256').update(`${accession}/${name}#${version}`).digest('base64url');
  return Buffer.alloc(size, pattern);
}

/** The version that these bytes are, if they are one. */
export function versionOf(file: Filed, bytes: Buffer): number | undefined {
  for (let version = 1; version <= file.version; version += 1) if (bytesOf(file, version).equals(bytes)) return version;
  return undefined;
}

export function etagOf(file: Filed): string | undefined {
  const tag = `"${file.name}-${file.version}"`;
  return file.validator === 'none' ? undefined : file.validator === 'weak' ? `W/${tag}` : tag;
}

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
