import { FilingsError } from '../../errors.ts';
import { openSession } from '../../session/session.ts';
import type { Invocation } from '../../spec/invocation.ts';
import { Limits } from '../../transfer/limits/limits.ts';
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
  const { maxBytes, maxRequests, stopAfter: stopAfterMs, limitRate } = options;
  const limits = new Limits({ maxBytes, maxRequests, stopAfterMs }, world.monotonic);
  const throttle = limitRate === undefined ? undefined : new Throttle(limitRate, world.monotonic);
  const session = await openSession(flags, world, {
    stdinUser: order.input === '-' ? '--input -' : undefined,
    writesStdout: [order.output, order.report].some((path) => path === '-' || path === '/dev/stdout'),
    meter: limits,
  });
  const places = new Places(world);
  try {
    const listedSizes = { ignored: false };
    const fetching = { client: session.client, places, listedSizes, monotonic: world.monotonic };
    await download(order, { session, fetching, limits, throttle, world });
    return 0;
  } finally {
    await session.close();
  }
}

async function download(order: Order, tools: Omit<BatchTools, 'books'>): Promise<void> {
  const books = await openBooks(order, tools.session, tools.world);
  let error: FilingsError | undefined;
  try {
    const isOne = order.single && !order.options.dryRun;
    error = await (isOne ? one : several)(order, { ...tools, books });
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

/** What a batch takes is read for batches alone. */
async function several(order: Order, tools: BatchTools): Promise<FilingsError | undefined> {
  const { runDownloads } = await import('./batch/batch.ts');
  return runDownloads(order, tools);
}

/** One named file: its own error is the error of the run. */
async function one(order: Order, tools: BatchTools): Promise<FilingsError | undefined> {
  const { books } = tools;
  const [fileName = ''] = order.fileNames;
  const [accession] = order.accessions;
  if (accession === undefined) return undefined;
  const outcome = await fetchSingle({ accession, fileName }, order, tools);
  books.tally.add(outcome);
  await books.report?.write(reportLine(outcome, books.errorOf));
  if (outcome.error) await books.failed?.add(accession, fileName);
  return outcome.error;
}
