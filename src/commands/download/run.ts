import { resolve } from 'node:path';
import { FilingsError } from '../../errors.ts';
import { openSession } from '../../session/session.ts';
import type { Invocation } from '../../spec/invocation.ts';
import { Allowance } from '../../transfer/limits/allowance.ts';
import type { Bounds } from '../../transfer/limits/bounds.ts';
import { MetricsFile } from '../../transfer/limits/metrics-file.ts';
import { Throttle } from '../../transfer/limits/throttle.ts';
import { Places } from '../../transfer/places.ts';
import { reportLine } from '../../transfer/report.ts';
import type { World } from '../../world.ts';
import type { BatchTools } from './batch/tools.ts';
import { openBooks } from './books.ts';
import { requireLedgers } from './order/ledgers.ts';
import { type Order, readOrder } from './order/order.ts';
import { fetchSingle } from './single.ts';
import type { OPTIONS } from './spec.ts';

/** `filings download`: files of filings, to disk or to stdout. */
export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const order = readOrder(args, options, flags, world);
  await requireLedgers(order, world);
  const bounds = boundsOf(order, world);
  const session = await openSession(flags, world, {
    stdinUser: order.input === '-' ? '--input -' : undefined,
    meter: bounds.allowance,
    shards: order.shard?.count,
  });
  const places = new Places(world);
  try {
    const fetching = { client: session.client, places, monotonic: world.monotonic };
    await download(order, { session, fetching, bounds, world });
    return 0;
  } finally {
    await places.close();
    await session.close();
  }
}

function boundsOf({ options }: Order, { monotonic }: World): Bounds {
  const { maxBytes, maxRequests, stopAfter: stopAfterMs, limitRate, minFree } = options;
  return {
    allowance: new Allowance({ maxBytes, maxRequests, stopAfterMs }, monotonic),
    throttle: limitRate === undefined ? undefined : new Throttle(limitRate, monotonic),
    minFree,
  };
}

async function download(order: Order, tools: Omit<BatchTools, 'books'>): Promise<void> {
  const books = await openBooks(order, tools.session, tools.world);
  let error: FilingsError | undefined;
  try {
    const metrics = await openMetrics(order, books, tools);
    error = await end(order, { ...tools, books }, metrics);
  } catch (thrown) {
    await books.abandon();
    throw thrown;
  }
  await closeAfter(error, books);
  if (error) throw error;
}

/** Closes the books; that one can't be put in its place does not hide what the run ended with. Throws `FilingsError`. */
async function closeAfter(error: FilingsError | undefined, books: BatchTools['books']): Promise<void> {
  try {
    await books.close();
  } catch (thrown) {
    await books.abandon();
    if (error === undefined || !(thrown instanceof FilingsError)) throw thrown;
    throw error.reworded(`${error.message}; then ${thrown.message}`);
  }
}

/** What the run ends with; the metrics tell it. */
async function end(
  order: Order,
  tools: BatchTools,
  metrics: MetricsFile | undefined,
): Promise<FilingsError | undefined> {
  const { now } = tools.world;
  try {
    const isOne = order.single && !order.options.dryRun;
    const error = await (isOne ? one(order, tools) : several(order, tools));
    await metrics?.close(error?.exitStatus ?? 0, now());
    return error;
  } catch (error) {
    await metrics?.close(error instanceof FilingsError ? error.exitStatus : 1, now()).catch(() => {});
    throw error;
  }
}

async function openMetrics(
  { options }: Order,
  { tally }: BatchTools['books'],
  { bounds: { allowance }, world }: Omit<BatchTools, 'books'>,
): Promise<MetricsFile | undefined> {
  if (options.metrics === undefined || options.dryRun) return undefined;
  return MetricsFile.open(resolve(world.cwd, options.metrics), () => ({
    files: { ...tally.files, done: tally.done, unmatched: tally.unmatched },
    bytes: allowance.bytes,
    requests: allowance.requests,
    retries: tally.retries,
    waitMs: tally.waitMs,
    retryAt: tally.retryAt,
  }));
}

/** What a batch takes is read for batches alone. */
async function several(order: Order, tools: BatchTools): Promise<FilingsError | undefined> {
  const { runDownloads } = await import('./batch/batch.ts');
  return runDownloads(order, tools);
}

/** One named file: its own error is the error of the run. */
async function one(order: Order, tools: BatchTools): Promise<FilingsError | undefined> {
  const { books } = tools;
  const [fileName = ''] = order.fileNames;
  if (order.accession === undefined) return undefined;
  const outcome = await fetchSingle({ accession: order.accession, fileName }, order, tools);
  books.tally.add(outcome);
  await books.report?.write(reportLine(outcome, books.errorOf));
  if (outcome.error) await books.failed?.add(order.accession, fileName);
  return outcome.error;
}
