import type { FilingsError } from '../../errors.ts';
import type { AccessionNumber } from '../../service/accession.ts';
import type { Report } from '../../stdio/report-file.ts';
import type { Outcome } from '../outcome.ts';
import { badInputLine, reportLine, unlistedLine } from '../report.ts';
import type { DoneList } from '../selection/done-list.ts';
import type { Expanded } from '../selection/expanded.ts';
import { FilingTracker } from '../selection/filing-tracker.ts';
import type { FailedList } from './failed-list.ts';
import type { Tally } from './tally.ts';

/** Where it is written what became of things. */
export interface Books {
  readonly tally: Tally;
  readonly report: Report | undefined;
  readonly failed: FailedList | undefined;
  readonly done: DoneList | undefined;
  /** An error as a report shows it: without a secret. */
  readonly errorOf: (error: FilingsError) => object;
}

/** Writes down each thing of a batch as it ends: counts, report, failed list, done list. */
export class Ledger {
  readonly #books: Books;
  readonly #beforeDone: () => Promise<void> | undefined;
  readonly #tracker = new FilingTracker();

  /** @param beforeDone resolves when what is said of files elsewhere is on disk; throws `local_io` */
  constructor(books: Books, beforeDone: () => Promise<void> | undefined) {
    this.#books = books;
    this.#beforeDone = beforeDone;
  }

  /** Told of each thing as it is handed out, in that order. */
  readonly taken = (item: Expanded): void => this.#tracker.taken(item);

  /**
   * A thing has ended, or was broken off. A filing is in the done list only after all its files are in place and
   * written down. Throws `local_io`, which stops the run.
   */
  async ended(item: Expanded, outcome: Outcome | undefined, brokenOff: boolean): Promise<void> {
    await this.#write(item, outcome);
    if (brokenOff) return;
    const stands = item.kind !== 'file' || (outcome !== undefined && isThere(outcome));
    const complete = this.#tracker.ended(item, stands);
    if (!complete || !this.#books.done) return;
    await this.#beforeDone();
    await this.#books.done.add([complete]);
  }

  async #write(item: Expanded, outcome: Outcome | undefined): Promise<void> {
    const { tally, report, errorOf } = this.#books;
    switch (item.kind) {
      case 'file':
      case 'refused': {
        const ended = outcome ?? refusal(item);
        if (ended === undefined) return;
        tally.add(ended);
        await report?.write(reportLine(ended, errorOf));
        if (ended.error) await this.#noteFailed(item.accession, item.fileName);
        return;
      }
      case 'unlisted':
        tally.fail(item.error);
        await report?.write(unlistedLine(item.accession, item.error, errorOf));
        return this.#noteFailed(item.accession);
      case 'bad':
        tally.fail(item.error);
        return report?.write(badInputLine(item.number ?? 0, item.error, errorOf));
      case 'unmatched':
        tally.unmatched += 1;
        return;
    }
  }

  async #noteFailed(accession: AccessionNumber, fileName?: string): Promise<void> {
    await this.#books.failed?.add(accession, fileName);
  }
}

/** What was only planned does not stand. */
function isThere({ result }: Outcome): boolean {
  return result === 'downloaded' || result === 'resumed' || result === 'skipped';
}

function refusal(item: Expanded): Outcome | undefined {
  if (item.kind !== 'refused') return undefined;
  const { accession, fileName, error } = item;
  const nothing = { bytes: 0, saved: 0, moved: 0, verifiedLength: false, attempts: 0, ms: 0 };
  return { wanted: { accession, fileName }, result: 'failed', path: null, ...nothing, error };
}
