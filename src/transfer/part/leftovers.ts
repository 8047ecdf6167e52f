// Finds the parts that ended runs left in a directory, so that a download can resume one of them and remove the others.
// docs/guarantees.md, section "Names on the disk", lists the names and the states after a crash.
import { constants } from 'node:fs';
import type { Sleep } from '../../abort.ts';
import type { Directory } from '../../disk/directory.ts';
import { OutputFile } from '../../disk/output-file.ts';
import { openPlain } from '../../disk/plain-file.ts';
import type { RemoteVersion } from '../resume.ts';
import type { KeptParts } from './kept-parts.ts';
import { type Owner, type OwnerState, type PartName, parsePartName, partName, recordName, stemOf } from './owner.ts';
import { readRecord } from './record.ts';

/** The age after which a part of an unknown owner is removed, although its run may still be alive. Milliseconds. */
const MIN_ABANDONED_AGE_MS = 86_400_000;

/** The facts about this run that the handling of parts needs. */
export interface PartRun {
  /** Undefined if the machine cannot be identified. Then the owners of all parts are unknown. */
  readonly self: Owner | undefined;
  readonly stateOf: (owner: Owner | undefined) => OwnerState;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly sleep: Sleep;
  readonly keptParts: KeptParts;
}

/** An open part of this run. `version` is set if an earlier run wrote its bytes. */
export interface Part {
  readonly id: string;
  readonly file: OutputFile;
  readonly version?: RemoteVersion;
}

/** The parts of other runs in one directory, whose names are read before its first file is handled. */
export class Leftovers {
  readonly run: PartRun;
  readonly #directory: Directory;
  #reading: Promise<void> | undefined;
  /** The names of parts by their stems; undefined until they have been read. */
  #partsByStem: ReadonlyMap<string, readonly PartName[]> | undefined;

  constructor(directory: Directory, run: PartRun) {
    this.#directory = directory;
    this.run = run;
  }

  /**
   * Returns the largest part of an ended run that can be resumed, flushed, or undefined. Removes the other parts of
   * ended runs. Never throws.
   */
  async claim(finalName: string, request: string): Promise<Part | undefined> {
    const stem = stemOf(finalName);
    const ids = await this.#claimEnded(stem);
    const candidates = await Promise.all(ids.map((id) => this.#open(stem, id, request)));
    const [best, ...others] = candidates.flatMap((part) => part ?? []).sort((a, b) => b.file.size - a.file.size);
    for (const { file } of others) await file.close();
    // The run of the part may have been killed before the disk reported lost bytes. This flush reports them.
    const claimed = best && (await flushOrClose(best.file)) ? best : undefined;
    for (const id of ids) if (id !== claimed?.id) await this.#discard(stem, id);
    return claimed;
  }

  /** Removes the parts of ended runs, because the file is complete. Never throws. */
  async sweep(finalName: string): Promise<void> {
    const stem = stemOf(finalName);
    for (const id of await this.#claimEnded(stem)) await this.#discard(stem, id);
  }

  /** Returns whether no other run has a part of the file. Returns false if the names have not been read yet. */
  hasNone(finalName: string): boolean {
    return this.#partsByStem?.has(stemOf(finalName).normalize()) === false;
  }

  /** Claims parts of ended runs by rename, which only one run wins, and returns their ids. Deletes abandoned parts. */
  async #claimEnded(stem: string): Promise<string[]> {
    this.#reading ??= this.#read();
    await this.#reading;
    const parts = this.#partsByStem?.get(stem.normalize()) ?? [];
    const claimedIds: string[] = [];
    for (const { name, kind, id, owner } of parts) {
      const state = this.run.stateOf(owner);
      if (state === 'ended' && (await this.#rename(name, partName(stem, this.run.self, id)))) claimedIds.push(id);
      const isBesidePart = kind === 'resume' && parts.some((other) => other.id === id && other.kind !== 'resume');
      if (state !== 'unknown' || isBesidePart || !(await this.#isOld(name))) continue;
      await this.#remove(recordName(stem, id));
      await this.#remove(name);
    }
    return claimedIds;
  }

  /** Returns undefined for a part without a record, an empty one, and one that is larger than its file. */
  async #open(stem: string, id: string, request: string): Promise<Part | undefined> {
    const version = await readRecord(this.#directory.pathFor(recordName(stem, id)), request);
    const path = this.#directory.pathFor(partName(stem, this.run.self, id));
    const { O_RDWR, O_NOFOLLOW } = constants;
    const opened = version && (await openPlain(path, O_RDWR | O_NOFOLLOW).catch(() => undefined));
    if (!opened) return undefined;
    const { size } = opened.stats;
    const file = new OutputFile(opened.fd, this.#directory.disk, size, this.run.keptParts.noteFailure);
    if (size > 0 && size <= (version.total ?? size)) return { id, file, version };
    await file.close();
    return undefined;
  }

  /** Deletes the record first: after a crash the part still leads to cleanup. */
  async #discard(stem: string, id: string): Promise<void> {
    await this.#remove(recordName(stem, id));
    await this.#remove(partName(stem, this.run.self, id));
  }

  /** Returns false if the age cannot be read. */
  async #isOld(name: string): Promise<boolean> {
    const stats = await this.#directory.disk.lstat(this.#directory.pathFor(name)).catch(() => undefined);
    return stats !== undefined && this.run.now() - stats.mtimeMs >= MIN_ABANDONED_AGE_MS;
  }

  /** Returns false if another run was first, or if this run may not rename the file. */
  #rename(name: string, to: string): Promise<boolean> {
    const renamed = this.#directory.disk.rename(this.#directory.pathFor(name), this.#directory.pathFor(to));
    return renamed.then(
      () => true,
      () => false,
    );
  }

  async #remove(name: string): Promise<void> {
    await this.#directory.disk.remove(this.#directory.pathFor(name)).catch(() => {});
  }

  async #read(): Promise<void> {
    const byStem = new Map<string, PartName[]>();
    try {
      for await (const name of this.#directory.names()) {
        const part = name.startsWith('.') ? parsePartName(name) : undefined;
        // HFS+ returns names in another form of Unicode (NFD) than that in which they were created.
        const stem = part?.stem.normalize() ?? '';
        if (part) byStem.set(stem, [...(byStem.get(stem) ?? []), part]);
      }
    } catch {
      // A directory that cannot be read has no part that could be resumed.
    }
    this.#partsByStem = byStem;
  }
}

/** Flushes a file. Closes the file and returns false if the flush fails. */
async function flushOrClose(file: OutputFile): Promise<boolean> {
  try {
    await file.flush();
    return true;
  } catch {
    await file.close().catch(() => {});
    return false;
  }
}
