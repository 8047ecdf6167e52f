import { lstat, readdir, unlink } from 'node:fs/promises';
import type { Directory } from '../disk/directory.ts';
import { type Owner, standingOf } from '../disk/owner.ts';
import { type PartName, parsePartName, resumeNameOf, stemOf } from './part-name.ts';

/** A dead process's part that may be gone on with. */
export interface Leftover {
  readonly part: string;
  readonly resume: string;
  readonly bytes: number;
  /** The machine was restarted since: its tail may be zeros. */
  readonly rebooted: boolean;
}

export interface Sweeper {
  readonly self: Owner;
  readonly platform: string;
  readonly uid: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The parts that earlier runs left in one directory, by the file they are for; read once a run. */
export class Leftovers {
  readonly #directory: Directory;
  readonly #sweeper: Sweeper;
  readonly #byStem: ReadonlyMap<string, readonly string[]>;

  private constructor(directory: Directory, sweeper: Sweeper, byStem: ReadonlyMap<string, readonly string[]>) {
    this.#directory = directory;
    this.#sweeper = sweeper;
    this.#byStem = byStem;
  }

  static async of(directory: Directory, sweeper: Sweeper): Promise<Leftovers> {
    const byStem = new Map<string, string[]>();
    for (const name of await readdir(directory.entry('.')).catch(() => [])) {
      const part = name.startsWith('.') ? parsePartName(name) : undefined;
      if (!part) continue;
      const names = byStem.get(part.stem);
      if (names) names.push(name);
      else byStem.set(part.stem, [name]);
    }
    return new Leftovers(directory, sweeper, byStem);
  }

  /**
   * Sweeps what dead processes left of a file, but for the largest part that can be
   * gone on with, which is returned. A live process's part is never touched.
   */
  async claim(final: string): Promise<Leftover | undefined> {
    const names = this.#byStem.get(stemOf(final)) ?? [];
    const present = new Set(names);
    let best: Leftover | undefined;
    for (const name of names) {
      const found = await this.#examine(name);
      if (found === 'not-ours') continue;
      const usable = found !== 'litter' && present.has(resumeNameOf(name)) && found.bytes > (best?.bytes ?? 0);
      if (usable) {
        if (best) await this.#drop(best.part, best.resume);
        best = found;
      } else if (found === 'litter' && name.endsWith('.resume') && present.has(name.replace(/resume$/, 'part'))) {
        // It goes, or stays, with its part.
      } else {
        await this.#drop(name, resumeNameOf(name));
      }
    }
    return best;
  }

  /** Sweeps all that dead processes left of a file. */
  async sweep(final: string): Promise<void> {
    if (!this.#byStem.has(stemOf(final))) return;
    const best = await this.claim(final);
    if (best) await this.#drop(best.part, best.resume);
  }

  async #examine(name: string): Promise<Leftover | 'litter' | 'not-ours'> {
    const parsed = parsePartName(name) as PartName;
    const stat = await lstat(this.#directory.entry(name)).catch(() => undefined);
    const { self, platform, uid, now } = this.#sweeper;
    if (!stat || (uid !== undefined && stat.uid !== uid)) return 'not-ours';
    const standing = standingOf(parsed.owner, self, platform, now() - stat.mtimeMs);
    if (standing === 'alive') return 'not-ours';
    // A second link is the final name itself: the process died between placing the file and dropping the part.
    if (parsed.kind === 'resume' || !stat.isFile() || stat.nlink !== 1) return 'litter';
    return { part: name, resume: resumeNameOf(name), bytes: stat.size, rebooted: standing === 'dead-since-reboot' };
  }

  async #drop(...names: readonly string[]): Promise<void> {
    for (const name of names) await unlink(this.#directory.entry(name)).catch(() => {});
  }
}
