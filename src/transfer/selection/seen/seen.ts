import { twinKey } from '../../../disk/file-name.ts';
import { type Digester, keyedDigester } from './name-digest.ts';
import { PairSet } from './pair-set.ts';

/** `again`: exactly this file; `twin`: another one that would be the same file on some disks. */
export type Sight = 'new' | 'again' | 'twin';

const ASCII = /^[\0-\x7f]*$/;

/**
 * What was named before in a run, in 19 to 26 bytes a file (28 to 39 for `shared` directories).
 * A file is known by 64 bits of a keyed digest, and its twins by 64 others: two names whose
 * digests collide in one of them are told as twins, or as new, and never taken for each other.
 */
export class Seen {
  readonly #files = new PairSet();
  readonly #folded = new PairSet();
  /** The names that stand in shared directories: each its folded name's first. */
  readonly #standing: PairSet | undefined;
  readonly #digest: Digester;

  /**
   * @param directories `shared`: files of several filings stand side by side, where one
   * of the same name is no twin: whether it may replace the other is `--if-exists`'s to say
   */
  constructor(directories: 'own' | 'shared' = 'own', digest: Digester = keyedDigester()) {
    this.#standing = directories === 'shared' ? new PairSet() : undefined;
    this.#digest = digest;
  }

  /** Bytes that it takes. */
  get bytes(): number {
    return this.#files.bytes + this.#folded.bytes + (this.#standing?.bytes ?? 0);
  }

  /** Takes down that a file is named, and says what it is to those named before. */
  add(accession: string, fileName: string): Sight {
    const [high, low, foldedHigh, foldedLow] = this.#digest(accession, fileName);
    const known = !this.#files.add(high, low);
    const folded = ASCII.test(fileName) ? fileName.toLowerCase() : twinKey(fileName);
    if (this.#standing) return this.#among(this.#standing, fileName, folded, known);
    const first =
      folded === fileName
        ? this.#folded.add(foldedHigh, foldedLow)
        : this.#folded.add(...lastWords(this.#digest(accession, folded)));
    if (first) return 'new';
    return known ? 'again' : 'twin';
  }

  /** Takes down a name that will stand nowhere, so that nothing is its twin. */
  addUnplaced(accession: string, fileName: string): Exclude<Sight, 'twin'> {
    const [high, low] = this.#digest(accession, fileName);
    return this.#files.add(high, low) ? 'new' : 'again';
  }

  #among(standing: PairSet, fileName: string, folded: string, known: boolean): Sight {
    const [high, low] = this.#digest('', fileName);
    if (this.#folded.add(...lastWords(this.#digest('', folded)))) {
      standing.add(high, low);
      return 'new';
    }
    if (known) return 'again';
    return standing.has(high, low) ? 'new' : 'twin';
  }
}

function lastWords([, , high, low]: readonly [number, number, number, number]): [number, number] {
  return [high, low];
}
