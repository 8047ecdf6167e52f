import { FilingsError } from '../../../errors.ts';
import type { RunEnd } from '../../../transfer/many/run-many.ts';
import { batchError } from '../../../transfer/many/verdict.ts';
import { type BatchEnd, summaryReport, summaryText } from '../../../transfer/mirror/summary.ts';
import type { Order } from '../order/order.ts';
import { fetchSelected } from './fetch-selected.ts';
import { type Lines, openLines } from './lines.ts';
import { startPulse } from './pulse.ts';
import type { BatchTools } from './tools.ts';

/** Fetches what an order selects, and sums it up; gives the error that it ends with. */
export async function runDownloads(order: Order, tools: BatchTools): Promise<FilingsError | undefined> {
  const { session, books, limits, world } = tools;
  const began = world.monotonic();
  const lines = await openLines(order, world, session.signal, (message) => session.progress.note(message));
  const reach = () => ({ tally: books.tally, read: lines.read(), ms: world.monotonic() - began });
  const stopPulse = session.progress.moves ? () => {} : startPulse(reach, (line) => session.progress.note(line));
  try {
    const { alone, ...run } = await fetchSelected(order, lines, tools);
    const undone = await undoneOf(run, lines);
    const error = alone ?? errorOf({ ...run, undone }, tools);
    const end: BatchEnd = {
      undone,
      stoppedBy: run.stoppedBy,
      exitCode: error?.exitStatus ?? 0,
      ms: world.monotonic() - began,
      bytes: limits.bytes,
      requests: limits.requests,
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
