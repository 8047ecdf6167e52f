import type { AccessionNumber } from '../../../service/accession.ts';
import { PairSet } from '../seen/pair-set.ts';

/** A set of accession numbers, exactly: their 18 digits are two numbers of 9. In 9 to 13 bytes each. */
export class AccessionSet {
  readonly #pairs = new PairSet();

  get size(): number {
    return this.#pairs.size;
  }

  /** Bytes that it takes. */
  get bytes(): number {
    return this.#pairs.bytes;
  }

  has(accession: AccessionNumber): boolean {
    return this.#pairs.has(firstNine(accession), lastNine(accession));
  }

  /** False: it was there already. */
  add(accession: AccessionNumber): boolean {
    return this.#pairs.add(firstNine(accession), lastNine(accession));
  }

  delete(accession: AccessionNumber): void {
    this.#pairs.delete(firstNine(accession), lastNine(accession));
  }
}

/** Ten digits and a dash, two digits and a dash, six digits. */
function firstNine(accession: AccessionNumber): number {
  return digits(accession, 0, 9, 0);
}

function lastNine(accession: AccessionNumber): number {
  return digits(accession, 14, 20, digits(accession, 11, 13, digits(accession, 9, 10, 0)));
}

/** The number whose decimal digits are `before`'s and those of a piece of the text: without texts of its own, since there may be millions. */
function digits(text: string, start: number, end: number, before: number): number {
  let number = before;
  for (let at = start; at < end; at += 1) number = number * 10 + text.charCodeAt(at) - 48;
  return number;
}
