import { NameTable } from './name-table.ts';
import { readSums, type SumsLineRead } from './sums-reader.ts';

/** An open checksum file, to be read up to byte `end`, or to its end. */
export interface ReadableSums {
  readonly fd: number;
  readonly end?: number;
}

/** What a directory's checksum files hold, taken as one behind the other: the last entry of a name counts. */
export interface SumsIndex {
  /** The number of the entry that counts, by its name. */
  readonly last: NameTable;
  /** Lines that are no entries. One at the end that was torn is none. */
  readonly garbage: number;
}

/** Reads the files once. Throws what the file system says, the signal's reason. */
export async function indexSums(files: readonly ReadableSums[], signal: AbortSignal): Promise<SumsIndex> {
  const last = new NameTable();
  let [number, garbage] = [0, 0];
  for (const { fd, end } of files) {
    for await (const lines of readSums(fd, end)) {
      signal.throwIfAborted();
      for (const line of lines) {
        if (line.kind === 'entry') last.set(line.name, number++);
        else if (!line.open) garbage += 1;
      }
    }
  }
  return { last, garbage };
}

export type CountingEntry = Extract<SumsLineRead, { kind: 'entry' }>;

/** Reads them again: one entry a name, some at a time; what was appended since is passed over. */
export async function* countingEntries(
  files: readonly ReadableSums[],
  { last }: SumsIndex,
): AsyncGenerator<readonly CountingEntry[]> {
  let number = 0;
  for (const { fd, end } of files) {
    for await (const lines of readSums(fd, end)) {
      const entries: CountingEntry[] = [];
      for (const line of lines) {
        if (line.kind !== 'entry') continue;
        if (last.get(line.name) === number) entries.push(line);
        number += 1;
      }
      yield entries;
    }
  }
}
