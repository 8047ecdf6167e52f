import type { AccessionNumber } from '../service/accession.ts';
import type { Expanded } from './expanded.ts';

/** A filing whose chosen files all stand. */
export interface CompleteFiling {
  readonly accession: AccessionNumber;
  /** How many files of its listing are chosen. */
  readonly files: number;
}

interface Filing {
  readonly accession: AccessionNumber;
  files: number;
  /** Handed out, and not at their end. */
  pending: number;
  /** Every chosen file has been handed out. */
  closed: boolean;
  /** No file of it has failed. */
  whole: boolean;
}

type NamedItem = Extract<Expanded, { kind: 'file' | 'again' | 'refused' }>;

/**
 * Finds the filings that are complete: listed, and every chosen file at a good end, the named ones
 * among them too. It holds the filings that are under way, and the named files that failed.
 */
export class FilingTracker {
  readonly #filings = new Map<AccessionNumber, Filing>();
  /** Named files under way, and the filing that waits for one, since its listing chooses it too. */
  readonly #named = new Map<string, Filing | undefined>();
  readonly #failedNames = new Set<string>();

  /** How many filings and named files it holds. */
  get size(): number {
    return this.#filings.size + this.#named.size;
  }

  /** To be told of each thing as it is handed out, in that order: `ExpansionOptions.onTaken`. */
  taken(item: Expanded): void {
    switch (item.kind) {
      case 'file':
        if (item.listed) this.#filing(item.accession).pending += 1;
        else this.#named.set(keyOf(item), undefined);
        break;
      case 'again':
        this.#join(item);
        break;
      case 'refused':
        if (item.listed) this.#filing(item.accession).whole = false;
        else this.#failedNames.add(keyOf(item));
        break;
      case 'listed':
        this.#close(this.#filing(item.accession), item.files);
        break;
    }
  }

  /**
   * To be told of each thing at its end, and whether it stands then; one that was broken off has
   * none. Gives the filing that is complete by it, if one is.
   */
  ended(item: Expanded, stands: boolean): CompleteFiling | undefined {
    if (item.kind === 'listed') return this.#ended(this.#filing(item.accession), true);
    if (item.kind !== 'file') return undefined;
    if (item.listed) return this.#ended(this.#filing(item.accession), stands);
    const waiting = this.#named.get(keyOf(item));
    this.#named.delete(keyOf(item));
    if (!stands) this.#failedNames.add(keyOf(item));
    return waiting && this.#ended(waiting, stands);
  }

  /** A chosen file that was named before: under way, failed, or well at its end. */
  #join(item: NamedItem): void {
    const filing = this.#filing(item.accession);
    // A listing may name it twice.
    if (this.#named.has(keyOf(item)) && this.#named.get(keyOf(item)) === undefined) {
      this.#named.set(keyOf(item), filing);
      filing.pending += 1;
    }
    if (this.#failedNames.has(keyOf(item))) filing.whole = false;
  }

  /** Nothing more of it will be handed out; this counts as pending itself, so that it has an end to be told at. */
  #close(filing: Filing, files: number): void {
    filing.files = files;
    filing.closed = true;
    filing.pending += 1;
  }

  #ended(filing: Filing, stands: boolean): CompleteFiling | undefined {
    filing.pending -= 1;
    filing.whole &&= stands;
    if (!filing.closed || filing.pending > 0) return undefined;
    const { accession, files, whole } = filing;
    this.#filings.delete(accession);
    return whole ? { accession, files } : undefined;
  }

  #filing(accession: AccessionNumber): Filing {
    let filing = this.#filings.get(accession);
    if (filing === undefined) {
      filing = { accession, files: 0, pending: 0, closed: false, whole: true };
      this.#filings.set(accession, filing);
    }
    return filing;
  }
}

function keyOf({ accession, fileName }: NamedItem): string {
  return [accession, fileName].join(' ');
}
