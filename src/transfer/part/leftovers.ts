import { constants } from 'node:fs';
import type { Sleep } from '../../abort.ts';
import type { Directory } from '../../disk/directory.ts';
import { openPlain } from '../../disk/plain-file.ts';
import { OutputFile } from '../../disk/written-file.ts';
import type { RemoteVersion } from '../resume.ts';
import type { KeptParts } from './kept-parts.ts';
import { type Owner, type OwnerState, type PartName, parsePartName, partName, recordName, stemOf } from './owner.ts';
import { readRecord } from './record.ts';

/** What may still have an owner is removed when untouched for so long. Milliseconds. */
const ABANDONED_MS = 86_400_000;

export interface PartRun {
  /** Undefined: unknown to other runs, and they to this one. */
  readonly self: Owner | undefined;
  readonly stateOf: (owner: Owner | undefined) => OwnerState;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly sleep: Sleep;
  readonly kept: KeptParts;
}

/** `version`: of one that an earlier run has begun. */
export interface Part {
  readonly id: string;
  readonly file: OutputFile;
  readonly version?: RemoteVersion;
}

/** The parts that other runs have in one directory; read before its first file is dealt with. */
export class Leftovers {
  readonly run: PartRun;
  readonly #directory: Directory;
  #reading: Promise<void> | undefined;
  #found: ReadonlyMap<string, readonly PartName[]> | undefined;

  constructor(directory: Directory, run: PartRun) {
    this.#directory = directory;
    this.run = run;
  }

  /**
   * Returns the part with most bytes that can be resumed, flushed; removes the others of runs that have ended. Never
   * throws.
   */
  async claim(final: string, request: string): Promise<Part | undefined> {
    const stem = stemOf(final);
    const ids = await this.#takeEnded(stem);
    const opened = await Promise.all(ids.map((id) => this.#open(stem, id, request)));
    const [best, ...others] = opened.flatMap((part) => part ?? []).sort((a, b) => b.file.size - a.file.size);
    for (const { file } of others) await file.close();
    // Its run may have been killed before it heard that the disk had lost some of the bytes.
    const claimed = best && (await isFlushed(best.file)) ? best : undefined;
    for (const id of ids) if (id !== claimed?.id) await this.#drop(stem, id);
    return claimed;
  }

  /** Removes parts of runs that have ended: the file is there. Never throws. */
  async sweep(final: string): Promise<void> {
    const stem = stemOf(final);
    for (const id of await this.#takeEnded(stem)) await this.#drop(stem, id);
  }

  hasNone(final: string): boolean {
    return this.#found?.has(stemOf(final).normalize()) === false;
  }

  /** Takes parts over, each by one rename, which one run wins; removes what is abandoned. */
  async #takeEnded(stem: string): Promise<string[]> {
    this.#reading ??= this.#read();
    await this.#reading;
    const found = this.#found?.get(stem.normalize()) ?? [];
    const taken: string[] = [];
    for (const { name, kind, id, owner } of found) {
      const state = this.run.stateOf(owner);
      if (state === 'ended' && (await this.#rename(name, partName(stem, this.run.self, id)))) taken.push(id);
      const isBesidePart = kind === 'resume' && found.some((other) => other.id === id && other.kind !== 'resume');
      if (state !== 'unknown' || isBesidePart || !(await this.#isOld(name))) continue;
      await this.#remove(recordName(stem, id));
      await this.#remove(name);
    }
    return taken;
  }

  /** Undefined: without a record, empty, or larger than its file. */
  async #open(stem: string, id: string, request: string): Promise<Part | undefined> {
    const version = await readRecord(this.#directory.entry(recordName(stem, id)), request);
    const path = this.#directory.entry(partName(stem, this.run.self, id));
    const { O_RDWR, O_NOFOLLOW } = constants;
    const opened = version && (await openPlain(path, O_RDWR | O_NOFOLLOW).catch(() => undefined));
    if (!opened) return undefined;
    const { size } = opened.stats;
    const file = new OutputFile(opened.fd, this.#directory.disk, size, this.run.kept.noteFailure);
    if (size > 0 && size <= (version.total ?? size)) return { id, file, version };
    await file.close();
    return undefined;
  }

  /** The part last: while it is there, the next run removes the record, too. */
  async #drop(stem: string, id: string): Promise<void> {
    await this.#remove(recordName(stem, id));
    await this.#remove(partName(stem, this.run.self, id));
  }

  async #isOld(name: string): Promise<boolean> {
    const stats = await this.#directory.disk.lstat(this.#directory.entry(name)).catch(() => undefined);
    return stats !== undefined && this.run.now() - stats.mtimeMs >= ABANDONED_MS;
  }

  /** False when another run was first, or it is not ours to rename. */
  #rename(name: string, to: string): Promise<boolean> {
    const renamed = this.#directory.disk.rename(this.#directory.entry(name), this.#directory.entry(to));
    return renamed.then(
      () => true,
      () => false,
    );
  }

  async #remove(name: string): Promise<void> {
    await this.#directory.disk.remove(this.#directory.entry(name)).catch(() => {});
  }

  async #read(): Promise<void> {
    const byStem = new Map<string, PartName[]>();
    try {
      for await (const name of this.#directory.names()) {
        const found = name.startsWith('.') ? parsePartName(name) : undefined;
        // HFS+ returns names in another form of Unicode than they were given in.
        const stem = found?.stem.normalize() ?? '';
        if (found) byStem.set(stem, [...(byStem.get(stem) ?? []), found]);
      }
    } catch {
      // What can't be read holds nothing that could be resumed.
    }
    this.#found = byStem;
  }
}

/** Closes the file if the flush fails. */
async function isFlushed(file: OutputFile): Promise<boolean> {
  try {
    await file.flush();
    return true;
  } catch {
    await file.close().catch(() => {});
    return false;
  }
}
