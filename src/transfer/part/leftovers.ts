import { constants } from 'node:fs';
import type { Sleep } from '../../abort.ts';
import { closeFile } from '../../disk/calls.ts';
import type { Directory } from '../../disk/directory.ts';
import { openOwn } from '../../disk/plain-file.ts';
import type { Version } from '../resume.ts';
import {
  type Owner,
  type PartName,
  parsePartName,
  partName,
  recordName,
  type StartOf,
  stateOf,
  stemOf,
} from './owner.ts';
import { readRecord } from './record.ts';

/** What may still have an owner is removed once it is untouched for so long. Milliseconds. */
const ABANDONED_MS = 86_400_000;

/** What parts need to know of this run. */
export interface PartRun {
  /** Undefined: unknown to other runs, and they to this one. */
  readonly self: Owner | undefined;
  readonly uid: number | undefined;
  readonly startOf: StartOf;
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
  readonly version: Version;
}

type Found = ReadonlyMap<string, readonly PartName[]>;

/** The parts that other runs have in one directory, by the file they are for; read before its first file is dealt with. */
export class Leftovers {
  readonly run: PartRun;
  readonly #directory: Directory;
  #reading: Promise<Found> | undefined;
  #found: Found | undefined;

  constructor(directory: Directory, run: PartRun) {
    this.#directory = directory;
    this.run = run;
  }

  /** The part of a file with most bytes that can be resumed; the others of runs that have ended go. Never throws. */
  async claim(final: string, request: string): Promise<Claimed | undefined> {
    const stem = stemOf(final);
    const ids = await this.#takeEnded(stem);
    const opened = await Promise.all(ids.map((id) => this.#open(stem, id, request)));
    const [best, ...others] = opened.flatMap((claimed) => claimed ?? []).sort((a, b) => b.bytes - a.bytes);
    for (const { fd } of others) await closeFile(fd);
    for (const id of ids) if (id !== best?.id) await this.#drop(stem, id);
    return best;
  }

  /** Removes the parts of a file of runs that have ended: it is there, so there is nothing to resume. Never throws. */
  async sweep(final: string): Promise<void> {
    const stem = stemOf(final);
    for (const id of await this.#takeEnded(stem)) await this.#drop(stem, id);
  }

  /** Whether it is known that there is nothing of a file to sweep. */
  hasNone(final: string): boolean {
    return this.#found?.has(stemOf(final)) === false;
  }

  /** The parts of runs that have ended become this run's, each by one rename, which one run wins; what is abandoned goes. */
  async #takeEnded(stem: string): Promise<string[]> {
    const names = (await this.#read()).get(stem) ?? [];
    const taken: string[] = [];
    for (const name of names) {
      const { self, startOf } = this.run;
      const state = name.kind === 'resume' ? 'unknown' : stateOf(name.owner, self, startOf);
      if (state === 'ended' && (await this.#rename(name, partName(stem, self, name.id)))) taken.push(name.id);
      const isBesidePart = name.kind === 'resume' && names.some(({ kind, id }) => kind !== 'resume' && id === name.id);
      if (state === 'unknown' && !isBesidePart) await this.#removeIfOld(name);
    }
    return taken;
  }

  async #rename(name: PartName, to: string): Promise<boolean> {
    const { disk } = this.#directory;
    return disk.rename(this.#entry(name), this.#directory.entry(to)).then(
      () => true,
      () => false,
    );
  }

  /** Undefined when it is of no use. */
  async #open(stem: string, id: string, request: string): Promise<Claimed | undefined> {
    const { self, uid } = this.run;
    const version = await readRecord(this.#directory.entry(recordName(stem, id)), request, uid);
    const path = this.#directory.entry(partName(stem, self, id));
    const opened = version && (await openOwn(path, constants.O_RDWR, uid));
    if (!opened) return undefined;
    const bytes = opened.stats.size;
    // A part that is larger than its file is none.
    if (bytes > 0 && bytes <= (version.total ?? bytes)) return { id, fd: opened.fd, bytes, version };
    await closeFile(opened.fd);
    return undefined;
  }

  /** The part last: while it is there, the next run removes the record, too. */
  async #drop(stem: string, id: string): Promise<void> {
    await this.#remove(this.#directory.entry(recordName(stem, id)));
    await this.#remove(this.#directory.entry(partName(stem, this.run.self, id)));
  }

  async #removeIfOld(name: PartName): Promise<void> {
    const stats = await this.#directory.disk.look(this.#entry(name)).catch(() => undefined);
    if (!stats || this.run.now() - stats.mtimeMs < ABANDONED_MS) return;
    await this.#remove(this.#directory.entry(recordName(name.stem, name.id)));
    await this.#remove(this.#entry(name));
  }

  async #remove(path: string): Promise<void> {
    await this.#directory.disk.remove(path).catch(() => {});
  }

  #entry(name: PartName): string {
    const { kind, stem, id } = name;
    return this.#directory.entry(kind === 'resume' ? recordName(stem, id) : partName(stem, name.owner, id, kind));
  }

  /** Once. What can't be read holds nothing that could be resumed. */
  #read(): Promise<Found> {
    this.#reading ??= partsIn(this.#directory).catch(() => new Map());
    return this.#reading.then((found) => {
      this.#found = found;
      return found;
    });
  }
}

async function partsIn(directory: Directory): Promise<Found> {
  const byStem = new Map<string, PartName[]>();
  for await (const name of directory.names()) {
    const found = name.startsWith('.') ? parsePartName(name) : undefined;
    if (!found) continue;
    const ofStem = byStem.get(found.stem);
    if (ofStem) ofStem.push(found);
    else byStem.set(found.stem, [found]);
  }
  return byStem;
}
