import { ChecksumFiles } from '../../../checksums/append.ts';
import { FilingsError } from '../../../errors.ts';
import type { AccessionNumber } from '../../../service/accession.ts';
import { listFiles } from '../../../session/list-files.ts';
import { humanBytes } from '../../../terminal/units.ts';
import type { RunEnd } from '../../../transfer/many/run-many.ts';
import type { Attempting } from '../../../transfer/mirror/attempt.ts';
import { Ledger } from '../../../transfer/mirror/ledger.ts';
import { mirror, type Telling } from '../../../transfer/mirror/mirror.ts';
import { outcomeLine } from '../../../transfer/report.ts';
import type { ExpansionOptions } from '../../../transfer/selection/expansion.ts';
import type { Order } from '../order/order.ts';
import { watched } from '../single.ts';
import { targetAt } from '../target.ts';
import type { Lines } from './lines.ts';
import { reachOf } from './reach.ts';
import type { BatchTools } from './tools.ts';

interface FetchEnd extends RunEnd {
  /** What a single filing's listing, or a single file that would fail, ends with: what the command ends with, too. */
  readonly alone: FilingsError | undefined;
}

/** Fetches what the lines select, and tells of it meanwhile. Throws what is no failure of one file, such as a defect. */
export async function fetchSelected(order: Order, lines: Lines, tools: BatchTools): Promise<FetchEnd> {
  const attempting = attemptingOf(order, tools);
  const ledger = new Ledger(tools.books, () => attempting.checksums?.flush());
  let alone: FilingsError | undefined;
  const telling = tellingOf(order, lines, tools, (error) => {
    alone = error;
  });
  const end = await mirror(lines.selected, selectionOf(order, tools), attempting, ledger, telling);
  return { ...end, alone };
}

function selectionOf({ chosen, layout, query }: Order, { session, limits, books }: BatchTools): ExpansionOptions {
  const { settings, signal } = session;
  const { tally, done } = books;
  return {
    async list(accession, within) {
      const limit = limits.reached();
      if (limit) throw limit;
      return listFiles(session, accession, { query, signal: within, onRetry: (each) => tally.wait(each) });
    },
    chosen,
    layout,
    passesOver(accession) {
      if (!done?.has(accession)) return false;
      tally.done += 1;
      return true;
    },
    jobs: settings.jobs,
    signal,
  };
}

function tellingOf(
  order: Order,
  lines: Lines,
  { session, books }: BatchTools,
  onAlone: (error: FilingsError) => void,
): Telling {
  const isAlone = order.input === undefined && order.accessions.length === 1;
  const { progress } = session;
  return {
    begins: (extent) => progress.overall(() => reachOf(books.tally, lines, extent())),
    failure(error) {
      if (order.single) onAlone(error);
      else progress.failure(error);
    },
    unmatched(accession, reason) {
      if (isAlone) onAlone(noMatch(accession, reason));
      else progress.note(`${accession}: ${reason}`);
    },
    unlisted(error) {
      if (isAlone) onAlone(error);
      return !isAlone;
    },
  };
}

function attemptingOf(order: Order, { session, fetching, limits, throttle, books, world }: BatchTools): Attempting {
  return {
    fetching,
    limits,
    throttle,
    checksums: order.options.checksums
      ? new ChecksumFiles({ now: world.now, flushed: books.done !== undefined })
      : undefined,
    dryRun: order.options.dryRun,
    targetOf: (path) => targetAt(path, order, world.cwd),
    watch(file) {
      const { finish, ...watcher } = watched(file, session, books.tally);
      return {
        ...watcher,
        finish(outcome) {
          // Many are skipped: they are counted.
          const isTold = !outcome.error && (outcome.result !== 'skipped' || session.settings.verbose);
          finish(isTold ? outcomeLine(outcome, humanBytes) : undefined);
        },
      };
    },
    onPlanned: (outcome) => {
      if (outcome.result === 'planned' || session.settings.verbose)
        session.progress.note(outcomeLine(outcome, humanBytes));
    },
  };
}

function noMatch(accession: AccessionNumber, reason: string): FilingsError {
  return new FilingsError('not_found', `${accession}: ${reason}`, {
    hint: 'check the accession number, --include and --exclude: case counts',
  });
}
