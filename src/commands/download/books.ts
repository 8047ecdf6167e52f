import { resolve } from 'node:path';
import type { Session } from '../../session/session.ts';
import { openReport } from '../../stdio/report-file.ts';
import { errorObject } from '../../terminal/render-error.ts';
import { FailedList } from '../../transfer/mirror/failed-list.ts';
import type { Books } from '../../transfer/mirror/ledger.ts';
import { Tally } from '../../transfer/mirror/tally.ts';
import { DoneList, selectionId } from '../../transfer/selection/done-list.ts';
import type { World } from '../../world.ts';
import type { Order } from './order/order.ts';

/** The files that a batch keeps, open. */
export interface OpenBooks extends Books {
  /** Puts the failed list in its place and closes the rest. Throws `local_io`. */
  close(): Promise<void>;
  /** Closes them without a new failed list. Never throws. */
  abandon(): Promise<void>;
}

/** Opens what the options name, all or none. Throws `usage`, `local_io`. */
export async function openBooks(order: Order, session: Session, world: World): Promise<OpenBooks> {
  const { failed, dryRun } = order.options;
  const open: (() => Promise<void> | undefined)[] = [];
  try {
    const report = order.report === undefined ? undefined : await openReport(order.report, world, session.signal);
    open.push(() => report?.close());
    const done = await openDone(order, session, world);
    open.push(() => done?.close());
    const failedList = failed === undefined || dryRun ? undefined : await FailedList.open(resolve(world.cwd, failed));
    return {
      tally: new Tally(),
      report,
      failed: failedList,
      done,
      errorOf: (error) => errorObject(error, world.secrets),
      close: () => closeAll(open).then(() => failedList?.finish()),
      async abandon() {
        await failedList?.abandon();
        await closeAll(open).catch(() => {});
      },
    };
  } catch (error) {
    await closeAll(open).catch(() => {});
    throw error;
  }
}

/** Closes each once: by then its number may be another file's. What is left when one fails, the next call closes. */
async function closeAll(open: (() => Promise<void> | undefined)[]): Promise<void> {
  for (let close = open.shift(); close; close = open.shift()) await close();
}

async function openDone(
  order: Order,
  { identity, settings, signal }: Session,
  world: World,
): Promise<DoneList | undefined> {
  const { done, include, exclude, all, dryRun } = order.options;
  if (done === undefined) return undefined;
  const { pageSize } = settings;
  const selection = selectionId({
    service: identity,
    include: all ? [] : include,
    exclude,
    layout: order.layout.template,
    directory: resolve(world.cwd, order.directory),
    query: pageSize === undefined ? order.query : [...order.query, ['page_size', `${pageSize}`]],
  });
  const path = resolve(world.cwd, done);
  return DoneList.open({ path, shown: `--done ${done}`, selection, now: world.now, readOnly: dryRun }, signal);
}
