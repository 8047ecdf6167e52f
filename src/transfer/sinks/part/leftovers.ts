import { constants, type Stats } from 'node:fs';
import { lstat, unlink } from 'node:fs/promises';
import type { Directory } from '../../../disk/directory/directory.ts';
import { timeIn } from '../../../disk/owner/clock.ts';
import { type Owner, type RunningProcess, type Standing, standing } from '../../../disk/owner/owner.ts';
import { openOwn } from '../../../disk/plain-file.ts';
import { baseOf, namesOf, type PartName, parsePartName, partNames, stemOf } from './part-name.ts';
import { readRecord } from './record-file.ts';
import type { Identity, Known } from './resume-record.ts';

/** A part that nobody writes to any more, and that may be gone on with. */
export interface Leftover {
  /** Of its names and its record's. */
  readonly base: string;
  readonly standing: Exclude<Standing, 'alive'>;
  /** So many of its bytes can be trusted. */
  readonly bytes: number;
}

/** What it takes to know whether others live. */
export interface Observer {
  readonly self: Owner;
  readonly uid: number | undefined;
  /** A process of this run's own namespace; undefined when it is known that there is none. */
  readonly processAt: (pid: number) => RunningProcess | undefined;
  /** Since this machine was started. */
  readonly uptimeMs: () => number;
  /** Tells the parts of this process apart. */
  readonly nextSerial: () => string;
}

type Found = Pick<Leftover, 'base' | 'standing'>;

/** The parts that earlier runs left in one directory, by the file they are for; read before the first file that is fetched. */
export class Leftovers {
  readonly #directory: Directory;
  readonly #observer: Observer;
  readonly #byStem = new Map<string, Map<string, PartName>>();
  #reading: Promise<void> | undefined;

  constructor(directory: Directory, observer: Observer) {
    this.#directory = directory;
    this.#observer = observer;
  }

  /**
   * The part of a file with most bytes that can be gone on with. The others go, but for what may still have an owner
   * and is of use; a live process's is never touched.
   */
  async claim(final: string, identity: Identity): Promise<Leftover | undefined> {
    await this.#read();
    let best: Leftover | undefined;
    for (const found of await this.#ownerless(final)) {
      const bytes = await this.#usableBytes(found, identity);
      const leftover = { ...found, bytes };
      const [better, worse] = bytes > (best?.bytes ?? 0) ? [leftover, best] : [best, leftover];
      if (worse && (worse.bytes === 0 || worse.standing !== 'abandoned')) await this.#drop(worse.base);
      best = better;
    }
    return best;
  }

  /**
   * Sweeps all of a file that was not fetched, since it is there already. A directory of many entries is read for that
   * only when the file has a second name, as a kill between `link` and `unlink` leaves one. Never throws.
   */
  async sweepBeside(final: string, { nlink }: Stats): Promise<void> {
    if (nlink > 1 || (await this.#directory.few())) await this.#read();
    await this.sweep(final);
  }

  /** Sweeps all of a file that has no owner, or none that showed itself, as far as the directory was read. Never throws. */
  async sweep(final: string): Promise<void> {
    for (const { base } of await this.#ownerless(final)) await this.#drop(base);
  }

  /** How an owner stands whose file of that base is as `stats` say; `now` is by the file system's clock. */
  standingOf(owner: Owner, stats: Stats, now: Date | undefined): Standing {
    const { self, processAt, uptimeMs } = this.#observer;
    return standing(owner, self, {
      process: processAt(owner.pid),
      untouchedMs: now && now.getTime() - stats.mtimeMs,
      uptimeMs: uptimeMs(),
    });
  }

  /** The time by the file system's own clock. */
  clock(final: string): Promise<Date | undefined> {
    return timeIn(this.#directory, this.partNamesFor(final));
  }

  /**
   * New names for parts of our own, and for files that tell the time: after a kill they are swept like any part.
   * None that a run left behind which can't be told from this one: its record would be taken for ours.
   */
  partNamesFor(final: string): () => string {
    const { self, nextSerial } = this.#observer;
    return () => {
      for (;;) {
        const { part } = partNames(final, self, nextSerial());
        if (!this.#byStem.get(stemOf(final))?.has(baseOf(part))) return part;
      }
    };
  }

  /** Once. What can't be read holds nothing that could be gone on with. */
  #read(): Promise<void> {
    this.#reading ??= this.#readNames().catch(() => {});
    return this.#reading;
  }

  async #readNames(): Promise<void> {
    for await (const name of (await this.#directory.few()) ?? this.#directory.names()) {
      const found = name.startsWith('.') ? parsePartName(name) : undefined;
      if (!found) continue;
      const ofStem = this.#byStem.get(found.stem);
      if (ofStem) ofStem.set(found.base, found);
      else this.#byStem.set(found.stem, new Map([[found.base, found]]));
    }
  }

  /** What is left of a file without a live owner. */
  async #ownerless(final: string): Promise<Found[]> {
    const ofStem = this.#byStem.get(stemOf(final));
    if (!ofStem) return [];
    const now = await this.clock(final);
    const found: Found[] = [];
    for (const { base, owner } of ofStem.values()) {
      const stats = await this.#statsOf(base);
      const { uid } = this.#observer;
      if (!stats || (uid !== undefined && stats.uid !== uid)) continue;
      const standing = this.standingOf(owner, stats, now);
      if (standing !== 'alive') found.push({ base, standing });
    }
    return found;
  }

  /** Of the part; without one, of what stands beside it. */
  async #statsOf(base: string): Promise<Stats | undefined> {
    const { part, resume, lock } = namesOf(base);
    for (const name of [part, resume, lock]) {
      const stats = await lstat(this.#directory.entry(name)).catch(() => undefined);
      if (stats) return stats;
    }
    return undefined;
  }

  /** 0 when it is of no use. */
  async #usableBytes({ base, standing }: Found, identity: Identity): Promise<number> {
    const { part, resume } = namesOf(base);
    const { uid } = this.#observer;
    const handle = await openOwn(this.#directory.entry(part), constants.O_RDONLY, uid);
    if (!handle) return 0;
    const { size } = await handle.stat().finally(() => handle.close());
    const known = await readRecord(this.#directory.entry(resume), identity, uid);
    return known ? trustedBytes(standing, known, size) : 0;
  }

  async #drop(base: string): Promise<void> {
    for (const name of Object.values(namesOf(base))) await unlink(this.#directory.entry(name)).catch(() => {});
  }
}

/** All bytes count only where the machine has run on since; a part larger than its total is none. */
export function trustedBytes(standing: Leftover['standing'], { record, flushed }: Known, size: number): number {
  if (record.total !== null && size > record.total) return 0;
  return standing === 'gone' ? size : Math.min(flushed, size);
}
