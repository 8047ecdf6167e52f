import { byteText } from '../../disk/byte-text.ts';
import { readFailure } from '../../disk/failure.ts';
import { appendsAreAtomic } from '../../disk/network-disk.ts';
import { appendLines } from './append.ts';
import { NameTable } from './name-table.ts';
import { openSums } from './sums-file.ts';
import { sumsLine } from './sums-line.ts';
import { type ShardOf, sumsNameFor } from './sums-name.ts';
import { readSums } from './sums-reader.ts';

/** A directory with checksums; `entry` gives the path of an entry for system calls, `path` is for people. */
export interface SumsDirectory {
  readonly path: string;
  entry(name: string): string;
}

/** Who appends to checksum files. */
export interface ChecksumKeeper {
  readonly shard: ShardOf | undefined;
  readonly platform: string;
  readonly uid: number | undefined;
}

/**
 * What one directory's checksum files list, read when it is first asked for; and a line for each new file. The directory
 * comes with each call: it may be closed and opened again between two.
 */
export class DirectorySums {
  readonly #keeper: ChecksumKeeper;
  #sumsName: Promise<string> | undefined;
  #listed: Promise<NameTable> | undefined;
  /** The memory that the names take. */
  bytes = 0;

  constructor(keeper: ChecksumKeeper) {
    this.#keeper = keeper;
  }

  async isListed(directory: SumsDirectory, name: string): Promise<boolean> {
    this.#listed ??= this.#read(directory);
    return (await this.#listed).get(byteText(name)) !== undefined;
  }

  async add(directory: SumsDirectory, name: string, sha256: string): Promise<void> {
    const sums = await this.#ownSums(directory);
    const file = { path: directory.entry(sums), shown: shownIn(directory, sums), uid: this.#keeper.uid };
    await appendLines(file, Buffer.from(sumsLine({ name: byteText(name), sha256 }), 'latin1'));
    const listed = await this.#listed;
    listed?.set(byteText(name), 0);
    this.bytes = listed?.bytes ?? 0;
  }

  #ownSums(directory: SumsDirectory): Promise<string> {
    const { shard, platform } = this.#keeper;
    this.#sumsName ??=
      shard === undefined
        ? Promise.resolve(sumsNameFor(shard, true))
        : appendsAreAtomic(directory.entry('.'), platform).then((atomic) => sumsNameFor(shard, atomic));
    return this.#sumsName;
  }

  async #read(directory: SumsDirectory): Promise<NameTable> {
    const listed = new NameTable();
    for (const sums of new Set([sumsNameFor(undefined, true), await this.#ownSums(directory)])) {
      await readInto(listed, directory.entry(sums), shownIn(directory, sums));
    }
    this.bytes = listed.bytes;
    return listed;
  }
}

async function readInto(listed: NameTable, path: string, shown: string): Promise<void> {
  const file = await openSums(path, shown);
  if (file === undefined) return;
  try {
    for await (const lines of readSums(file.fd)) {
      // A line that no line break ends may be torn: that file is listed once more.
      for (const line of lines) if (line.kind === 'entry' && !line.open) listed.set(line.name, 0);
    }
  } catch (error) {
    throw readFailure(error, shown);
  } finally {
    await file.close();
  }
}

function shownIn({ path }: SumsDirectory, sums: string): string {
  return `${path}/${sums}`;
}
