import { opendir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type AccessionNumber, isAccession } from '../../service/accession.ts';

/** So many entries show how a directory is laid out. */
const LOOKED_AT = 1000;

/** What a directory of filings holds at the first look. */
export interface FirstLook {
  /** A filing of it, the same at every look. */
  readonly accession?: AccessionNumber;
  /** Why there is none, as the end of a sentence. */
  readonly fault?: string;
  /** The directory that was meant, where one level more or less has filings. */
  readonly instead?: string;
}

/** Looks whether a directory is laid out as DIRECTORY/ACCESSION/FILE. What can't be looked at is no fault. */
export async function firstLook(directory: string): Promise<FirstLook> {
  const { directories, files } = await entriesOf(directory);
  const [accession] = directories.filter(isAccession);
  if (accession !== undefined) return { accession };
  if (isAccession(basename(directory)) && files.length > 0) {
    return { fault: 'it is one filing itself', instead: dirname(directory) };
  }
  for (const name of directories) {
    const below = join(directory, name);
    if ((await entriesOf(below)).directories.some(isAccession)) {
      return { fault: 'its filings are one level further down', instead: below };
    }
  }
  if (files.length > 0) return { fault: 'it holds files, and no folder of a filing' };
  return { fault: directories.length === 0 ? 'it is empty' : 'no folder in it is named by an accession number' };
}

async function entriesOf(directory: string) {
  const directories: string[] = [];
  const files: string[] = [];
  try {
    let looked = 0;
    for await (const entry of await opendir(directory)) {
      if (entry.isDirectory()) directories.push(entry.name);
      else if (entry.isFile() && !entry.name.startsWith('.')) files.push(entry.name);
      looked += 1;
      if (looked >= LOOKED_AT) break;
    }
  } catch {
    // The service itself says so when it is asked.
  }
  return { directories: directories.sort(), files };
}
