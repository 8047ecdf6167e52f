import { constants } from 'node:fs';
import type { Sleep } from '../../abort.ts';
import type { Directory } from '../../disk/directory.ts';
import { closeFile, openOwn } from '../../disk/plain-file.ts';
import {
  type Owner,
  type PartName,
  type ProcessAt,
  parsePartName,
  partName,
  recordName,
  stateOf,
  stemOf,
} from './owner.ts';
import { type Identity, type ResumeRecord, readRecord } from './record.ts';

/** What may still have an owner is removed once it is untouched for so long. Milliseconds. */
const ABANDONED_MS = 86_400_000;

/** What parts need to know of this run. */
export interface PartRun {
  readonly self: Owner;
  readonly uid: number | undefined;
  readonly processAt: ProcessAt;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly sleep: Sleep;
}

/** A part of a run that has ended, which is this run's by now. */
export interface Claimed {
  readonly id: string;
  /** Open for reading and writing. */
  readonly fd: number;
  readonly bytes: number;
  readonly record: ResumeRecord;
}

/** The parts that other runs have in one directory, by the file they are for; read before its first file is dealt with. */
export class Leftovers {
  readonly run: PartRun;
  readonly #directory: Directory;
  #reading: Promise<ReadonlyMap<string, readonly PartName[]>> | undefined;
  #found: ReadonlyMap<string, readonly PartName[]> | undefined;

  constructor(directory: Directory, run: PartRun) {
    this.#directory = directory;
    this.run = run;
  }

  /** The part of a file with most bytes that can be resumed; the others of runs that have ended go. Never throws. */
  async claim(final: string, identity: Identity): Promise<Claimed | undefined> {
    const stem = stemOf(final);
    let best: Claimed | undefined;
    for (const id of await this.#takeEnded(stem)) {
      const found = await this.#open(stem, id, identity);
      if (found && found.bytes > (best?.bytes ?? 0)) {
        if (best) await this.#drop(stem, best.id, best.fd);
        best = found;
      } else await this.#drop(stem, id, found?.fd);
    }
    return best;
  }

  /** Removes the parts of a file of runs that have ended: it is there, so there is nothing to resume. Never throws. */
  async sweep(final: string): Promise<void> {
    const stem = stemOf(final);
    for (const id of await this.#takeEnded(stem)) await this.#drop(stem, id, undefined);
  }

  /** Whether it is known that there is nothing of a file to sweep. */
  hasNone(final: string): boolean {
    return this.#found !== undefined && (this.#found.size === 0 || !this.#found.has(stemOf(final)));
  }

  /** The parts of runs that have ended become this run's, each by one rename; what is abandoned goes. */
  async #takeEnded(stem: string): Promise<string[]> {
    const names = (await this.#read()).get(stem) ?? [];
    const parts = new Set(names.flatMap(({ kind, id }) => (kind === 'part' ? [id] : [])));
    const taken: string[] = [];
    for (const name of names) {
      const state = name.kind === 'resume' ? 'unknown' : stateOf(name.owner, this.run.self, this.run.processAt);
      if (name.kind === 'part' && state === 'ended') {
        if (await this.#take(stem, name)) taken.push(name.id);
      } else if (name.kind === 'lock' && state === 'ended') await this.#remove(nameOf(name));
      else if (state === 'unknown' && !(name.kind === 'resume' && parts.has(name.id))) await this.#removeIfOld(name);
    }
    return taken;
  }

  /** False when another run was first, or the part is another user's. */
  async #take(stem: string, name: PartName & { readonly kind: 'part' | 'lock' }): Promise<boolean> {
    const { disk } = this.#directory;
    const theirs = this.#directory.entry(nameOf(name));
    try {
      const stats = await disk.look(theirs);
      if (stats === undefined || (this.run.uid !== undefined && stats.uid !== this.run.uid)) return false;
      await disk.rename(theirs, this.#directory.entry(partName(stem, this.run.self, name.id)));
      return true;
    } catch {
      return false;
    }
  }

  /** Undefined when it is of no use. */
  async #open(stem: string, id: string, identity: Identity): Promise<Claimed | undefined> {
    const record = await readRecord(this.#directory.entry(recordName(stem, id)), identity, this.run.uid);
    const path = this.#directory.entry(partName(stem, this.run.self, id));
    const opened = record && (await openOwn(path, constants.O_RDWR, this.run.uid));
    if (!opened) return undefined;
    const { fd, stats } = opened;
    // A part that is larger than its file is none.
    if (stats.size > 0 && stats.size <= (record.total ?? stats.size)) return { id, fd, bytes: stats.size, record };
    await closeFile(fd);
    return undefined;
  }

  async #drop(stem: string, id: string, fd: number | undefined): Promise<void> {
    if (fd !== undefined) await closeFile(fd);
    // The part last: while it is there, the next run removes the record, too.
    await this.#remove(recordName(stem, id));
    await this.#remove(partName(stem, this.run.self, id));
  }

  async #removeIfOld(name: PartName): Promise<void> {
    const stats = await this.#directory.disk.look(this.#directory.entry(nameOf(name))).catch(() => undefined);
    if (!stats || this.run.now() - stats.mtimeMs < ABANDONED_MS) return;
    if (name.kind === 'part') await this.#remove(recordName(name.stem, name.id));
    await this.#remove(nameOf(name));
  }

  async #remove(name: string): Promise<void> {
    await this.#directory.disk.unlink(this.#directory.entry(name)).catch(() => {});
  }

  /** Once. What can't be read holds nothing that could be resumed. */
  #read(): Promise<ReadonlyMap<string, readonly PartName[]>> {
    this.#reading ??= partsIn(this.#directory)
      .catch(() => new Map())
      .then((found) => {
        this.#found = found;
        return found;
      });
    return this.#reading;
  }
}

async function partsIn(directory: Directory): Promise<ReadonlyMap<string, readonly PartName[]>> {
  const byStem = new Map<string, PartName[]>();
  if (directory.isNew) return byStem;
  for await (const name of directory.names()) {
    const found = name.startsWith('.') ? parsePartName(name) : undefined;
    if (!found) continue;
    const ofStem = byStem.get(found.stem);
    if (ofStem) ofStem.push(found);
    else byStem.set(found.stem, [found]);
  }
  return byStem;
}

function nameOf(name: PartName): string {
  return name.kind === 'resume' ? recordName(name.stem, name.id) : partName(name.stem, name.owner, name.id, name.kind);
}
