import { fsync } from 'node:fs';
import { promisify } from 'node:util';
import { byteText } from '../../disk/byte-text.ts';
import { WRITTEN_AFTER_MS } from '../../disk/directory/settled.ts';
import { diskFailure, readFailure } from '../../disk/failure.ts';
import { appendsAreAtomic } from '../../disk/network-disk.ts';
import { appendLines } from './append.ts';
import { NameTable } from './name-table.ts';
import { openSums } from './sums-file.ts';
import { sumsLine } from './sums-line.ts';
import { type ShardOf, sumsNameFor } from './sums-name.ts';
import { readSums } from './sums-reader.ts';

const flushFd = promisify(fsync);

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
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * What one directory's checksum files list, read when it is first asked for; and a line for each new file: the methods are
 * those of `ChecksumFiles`. The directory comes with each call: it may be closed and opened again between two.
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

  async flush(directory: SumsDirectory, ours: boolean): Promise<boolean> {
    let flushed = false;
    for (const sums of await this.#allSums(directory)) {
      const shown = shownIn(directory, sums);
      const file = await openSums(directory.entry(sums), shown);
      if (file === undefined) continue;
      try {
        if (!ours && this.#keeper.now() - Number(file.changed / 1_000_000n) >= WRITTEN_AFTER_MS) continue;
        await flushFd(file.fd);
        flushed = true;
      } catch (error) {
        throw diskFailure(error, shown);
      } finally {
        await file.close();
      }
    }
    return flushed;
  }

  /** The one that all append to, and the shard's own. */
  async #allSums(directory: SumsDirectory): Promise<ReadonlySet<string>> {
    return new Set([sumsNameFor(undefined, true), await this.#ownSums(directory)]);
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
    for (const sums of await this.#allSums(directory)) {
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
