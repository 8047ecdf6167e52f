import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { DoneList, selectionId } from '../../batch/done-list.ts';
import { diskFailure } from '../../disk/failure.ts';
import type { Session } from '../../session/session.ts';
import { openReport, type Report } from '../../stdio/report-file.ts';
import type { World } from '../../world.ts';
import type { Order } from './order.ts';

/** The files that a run writes beside what it downloads, open. */
export interface Outputs {
  readonly report: Report | undefined;
  readonly done: DoneList | undefined;
}

/** Opens what the options name, all or none. Throws `local_io`. */
export async function openOutputs(order: Order, session: Session, world: World): Promise<Outputs> {
  const { failed, dryRun } = order.options;
  if (failed !== undefined && !dryRun) {
    await access(dirname(resolve(world.cwd, failed)), constants.W_OK).catch((error) => {
      throw diskFailure(error, `--failed ${failed}`);
    });
  }
  const report = order.report === undefined ? undefined : await openReport(order.report, world, session.signal);
  try {
    return { report, done: await openDone(order, session, world) };
  } catch (error) {
    await report?.close();
    throw error;
  }
}

async function openDone(
  { options, layout, directory, query }: Order,
  { identity, settings: { pageSize }, signal }: Session,
  world: World,
): Promise<DoneList | undefined> {
  const { done, include, exclude, all, dryRun } = options;
  if (done === undefined) return undefined;
  const selection = selectionId({
    service: identity,
    include: all ? [] : include,
    exclude,
    layout: layout.template,
    directory: resolve(world.cwd, directory),
    query: pageSize === undefined ? query : [...query, ['page_size', `${pageSize}`]],
  });
  const path = resolve(world.cwd, done);
  return DoneList.open({ path, selection, now: world.now, readOnly: dryRun }, signal);
}
