import { FilingsError } from '../../errors.ts';
import type { AccessionNumber } from '../../service/accession.ts';
import { listFiles } from '../../session/list-files.ts';
import type { Session } from '../../session/session.ts';
import { humanBytes } from '../../terminal/units.ts';
import type { Fetching } from '../../transfer/fetch-file.ts';
import type { Bounds } from '../../transfer/limits/bounds.ts';
import type { RunEnd } from '../../transfer/many/run-many.ts';
import { batchError } from '../../transfer/many/verdict.ts';
import type { Attempting } from '../../transfer/mirror/attempt.ts';
import { Ledger } from '../../transfer/mirror/ledger.ts';
import { mirror } from '../../transfer/mirror/mirror.ts';
import { type BatchEnd, summaryReport, summaryText } from '../../transfer/mirror/summary.ts';
import { outcomeLine } from '../../transfer/report.ts';
import type { World } from '../../world.ts';
import type { OpenBooks } from './books.ts';
import { checksumsOf } from './checksums.ts';
import { type Lines, openLines } from './lines.ts';
import type { Order } from './order.ts';
import { startPulse } from './pulse.ts';
import { reachOf } from './reach.ts';
import { watched } from './single.ts';
import { targetAt } from './target.ts';

/** What a batch works with. */
export interface BatchTools {
  readonly session: Session;
  readonly fetching: Fetching;
  readonly bounds: Bounds;
  readonly books: OpenBooks;
  readonly world: World;
}

/** Fetches what an order selects, and sums it up; gives the error that it ends with. */
export async function runDownloads(order: Order, tools: BatchTools): Promise<FilingsError | undefined> {
  const { session, books, world } = tools;
  const { allowance } = tools.bounds;
  const began = world.monotonic();
  const lines = await openLines(order, world, session.signal);
  const reach = () => ({ tally: books.tally, read: lines.read(), ms: world.monotonic() - began });
  const stopPulse = session.progress.moves ? () => {} : startPulse(reach, (line) => session.progress.note(line));
  try {
    const alone: Alone = {};
    const run = await select(order, lines, tools, alone);
    const undone = await undoneOf(run, lines);
    const error = alone.error ?? errorOf({ ...run, undone }, tools);
    const end: BatchEnd = {
      undone,
      stoppedBy: run.stoppedBy,
      exitCode: error?.exitStatus ?? 0,
      ms: world.monotonic() - began,
      bytes: allowance.bytes,
      requests: allowance.requests,
    };
    const untold = await untoldBy(books.report?.write(summaryReport(books.tally, end)));
    session.progress.note(summaryText(books.tally, end));
    return run.stoppedBy ? error : (untold ?? error);
  } finally {
    stopPulse();
    lines.close();
  }
}

/** Why a report could not be written to its end, if that is so: what stopped the batch before is the graver error. */
async function untoldBy(writing: Promise<void> | undefined): Promise<FilingsError | undefined> {
  try {
    await writing;
    return undefined;
  } catch (error) {
    if (error instanceof FilingsError) return error;
    throw error;
  }
}

/** Where a single filing is chosen from, what its listing ends with is what the command ends with. */
interface Alone {
  error?: FilingsError;
}

function select(order: Order, lines: Lines, tools: BatchTools, alone: Alone): Promise<RunEnd> {
  const isAlone = order.input === undefined;
  const { session, books } = tools;
  const { settings, signal, progress } = session;
  const { chosen, layout } = order;
  const { tally, done } = books;
  return mirror(
    lines.selected,
    {
      list: (accession, within) =>
        listFiles(session, accession, { signal: within, onSetback: (each) => tally.wait(each) }),
      chosen,
      layout,
      isDone: (accession) => done?.has(accession) ?? false,
      jobs: settings.jobs,
      signal,
    },
    attemptingOf(order, tools),
    new Ledger(books),
    {
      begins: (extent) => progress.overall(() => reachOf(tally, lines, extent())),
      failure: (error) => progress.failure(error),
      unmatched(accession, reason) {
        if (isAlone) alone.error = noMatch(accession, reason);
        else progress.note(`${accession}: ${reason}`);
      },
      unlisted(error) {
        if (isAlone) alone.error = error;
        return !isAlone;
      },
    },
  );
}

function attemptingOf(order: Order, { session, fetching, bounds, books, world }: BatchTools): Attempting {
  return {
    fetching,
    bounds,
    checksums: checksumsOf(order, world),
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

/** How many files were not begun: what was broken off has its line in the report, as a failure. A filing without its listing and a line that was not read count as one. */
async function undoneOf({ stoppedBy, undone, brokenOff }: RunEnd, lines: Lines): Promise<number | undefined> {
  if (!stoppedBy) return 0;
  const rest = await lines.rest();
  return undone === undefined || rest === undefined ? undefined : undone - brokenOff + rest;
}

function errorOf(run: RunEnd, { books }: BatchTools): FilingsError | undefined {
  const { files, onlyTemporary, total } = books.tally;
  return batchError({ files: total, failed: files.failed, onlyTemporary, ...run });
}

function noMatch(accession: AccessionNumber, reason: string): FilingsError {
  return new FilingsError('not_found', `${accession}: ${reason}`, {
    hint: 'check the accession number, --include and --exclude: case counts',
  });
}
