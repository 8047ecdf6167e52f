import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { DoneList, selectionId } from '../../batch/done-list.ts';
import { Recorder } from '../../batch/recorder.ts';
import type { ChecksumFiles } from '../../checksums/append.ts';
import { diskFailure } from '../../disk/failure.ts';
import { replaceFile } from '../../disk/whole-file.ts';
import type { Session } from '../../session/session.ts';
import { openReport, type Report } from '../../stdio/report-file.ts';
import { errorObject } from '../../terminal/messages.ts';
import type { World } from '../../world.ts';
import type { Order } from './order/order.ts';

/** The files that a run writes beside what it downloads, open. */
export interface RunOutputs {
  readonly recorder: Recorder;
  readonly done: DoneList | undefined;
  /** Puts the failed list in its place and closes the rest. Throws `local_io`. */
  close(): Promise<void>;
  /** Closes them without a new failed list. Never throws. */
  abandon(): Promise<void>;
}

/** Opens what the options name, all or none. Throws `usage`, `local_io`. */
export async function openOutputs(
  order: Order,
  checksums: ChecksumFiles | undefined,
  session: Session,
  world: World,
): Promise<RunOutputs> {
  const { dryRun, failed: failedPath } = order.options;
  const { secrets, now, sleep } = world;
  let report: Report | undefined;
  let done: DoneList | undefined;
  const closeAll = async () => {
    // Each once: by then its number may be another file's.
    const open = [report, done];
    [report, done] = [undefined, undefined];
    const closed = await Promise.allSettled(open.map((each) => each?.close()));
    for (const each of closed) if (each.status === 'rejected') throw each.reason;
  };
  try {
    report = order.report === undefined ? undefined : await openReport(order.report, world, session.signal);
    done = await openDone(order, session, world);
    const path = failedPath === undefined || dryRun ? undefined : resolve(world.cwd, failedPath);
    if (path !== undefined) await requireDirectory(path);
    const recorder = new Recorder(
      { report, failed: path !== undefined, done: dryRun ? undefined : done },
      {
        now,
        sleep,
        errorOf: (error) => errorObject(error, secrets),
        redact: (text) => secrets.redact(text),
        beforeDone: async () => checksums?.flush(),
      },
    );
    return {
      recorder,
      done,
      async close() {
        await closeAll();
        // Only now: it may be the input of this run.
        if (path !== undefined) await replaceFile(path, recorder.failed, 0o666);
      },
      abandon: () => closeAll().catch(() => {}),
    };
  } catch (error) {
    await closeAll().catch(() => {});
    throw error;
  }
}

/** Where the failed list will be put. Throws `local_io`. */
async function requireDirectory(path: string): Promise<void> {
  await access(dirname(path), constants.W_OK).catch((error) => {
    throw diskFailure(error, `--failed ${path}`);
  });
}

async function openDone(
  order: Order,
  { identity, settings: { pageSize }, signal }: Session,
  world: World,
): Promise<DoneList | undefined> {
  const { done, include, exclude, all, dryRun } = order.options;
  if (done === undefined) return undefined;
  const selection = selectionId({
    service: identity,
    include: all ? [] : include,
    exclude,
    layout: order.layout.template,
    directory: resolve(world.cwd, order.directory),
    query: pageSize === undefined ? order.query : [...order.query, ['page_size', `${pageSize}`]],
  });
  const path = resolve(world.cwd, done);
  return DoneList.open({ path, selection, now: world.now, readOnly: dryRun }, signal);
}
