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

function firstNine(accession: AccessionNumber): number {
  return Number(accession.slice(0, 9));
}

/** Behind the first nine come a digit and a dash, two digits and a dash, six digits. */
function lastNine(accession: AccessionNumber): number {
  return Number(accession.slice(9, 10) + accession.slice(11, 13) + accession.slice(14));
}
