import type { ErrorCode, FilingsError } from '../../errors.ts';
import type { AccessionNumber } from '../../service/accession.ts';
import { whyNoMatch } from '../../service/listing/listing.ts';
import { type RunEnd, runMany } from '../many/run-many.ts';
import type { Expanded } from '../selection/expanded.ts';
import type { Selected } from '../selection/expansion.ts';
import { Expansion, type ExpansionOptions, type Extent } from '../selection/expansion.ts';
import { type Attempting, attempt } from './attempt.ts';
import type { Ledger } from './ledger.ts';
import { Streak } from './streak.ts';

/** What a batch tells a person. */
export interface Telling {
  /** It begins; how much it is can be asked for, and is undefined while nobody knows. */
  begins(extent: () => Extent | undefined): void;
  unmatched(accession: AccessionNumber, reason: string): void;
  failure(error: FilingsError): void;
  /** A listing failed; false: it is told elsewhere. */
  unlisted(error: FilingsError): boolean;
}

/**
 * Works through a selection: listings a few ahead, files some at a time, each written down as it ends. Goes on after a
 * failed one, but not after what would fail all the rest, nor without its books.
 */
export async function mirror(
  lines: AsyncIterable<Selected>,
  selection: Omit<ExpansionOptions, 'onTaken'>,
  attempting: Attempting,
  ledger: Ledger,
  telling: Telling,
): Promise<RunEnd> {
  const streak = new Streak((error) => telling.failure(error));
  const expansion = new Expansion(lines, { ...selection, onTaken: ledger.taken });
  telling.begins(() => expansion.extent);
  let stoppedFor: ErrorCode | undefined;
  const end = await runMany(
    expansion,
    (item: Expanded, signal, arrived) => attempt(item, attempting, { signal, arrived }),
    async ({ outcome, error, asked }, item, brokenOff) => {
      await ledger.ended(item, outcome, brokenOff);
      if (item.kind === 'unmatched') telling.unmatched(item.accession, whyNoMatch(item.files));
      if (brokenOff || (item.kind === 'unlisted' && !telling.unlisted(item.error))) return;
      // What stops the batch is told once, at its end, also for the files beside it that failed the same way.
      if (error?.stopsRun) stoppedFor ??= error.code;
      if (error?.stopsRun && error.code === stoppedFor) return;
      if (error || asked !== false) streak.next(error && atLine(item, error));
    },
    { jobs: selection.jobs, signal: selection.signal, again: attempting.fetching.client.again },
  );
  streak.end(end.stoppedBy);
  return end;
}

function atLine(item: Expanded, error: FilingsError): FilingsError {
  const number = item.kind === 'bad' ? item.number : undefined;
  return number === undefined ? error : error.reworded(`line ${number}: ${error.message}`);
}
