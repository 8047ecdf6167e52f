import { constants } from 'node:fs';
import { access, lstat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DoneList, selectionId } from '../../batch/done-list.ts';
import type { FileItem } from '../../batch/item.ts';
import { diskUnder } from '../../disk/calls.ts';
import { diskFailure } from '../../disk/failure.ts';
import type { Session } from '../../session/session.ts';
import { isStreamPath, pathWriter, stdoutWriter } from '../../stdio/byte-writer.ts';
import { openReport } from '../../stdio/report-file.ts';
import type { DiskTarget, StreamTarget } from '../../transfer/download.ts';
import type { World } from '../../world.ts';
import type { Order } from './order.ts';

/** Where files go that the layout gives a path below DIR; `--output` alone names its place itself. */
export function targetsOf(
  { output, directory, options }: Order,
  cwd: string,
): (file: Pick<FileItem, 'path' | 'accession' | 'size'>) => DiskTarget {
  const { ifExists, sha256, checksums: hashed } = options;
  if (output !== undefined) {
    const path = resolve(cwd, output);
    const where = { directory: dirname(path), below: undefined };
    const target = { path, shown: output, where, sha256, hashed };
    return () => ({ ...target, ifExists: ifExists ?? 'overwrite' });
  }
  const absolute = resolve(cwd, directory);
  const inside = join(absolute, '/');
  const shown = join(directory, '/').replace(/^\.\//, '');
  return ({ path, accession, size }) => ({
    path: inside + path,
    shown: shown + path,
    where: { directory: absolute, below: dirname(path) },
    // Where nothing but this filing's files go, what exists is this file; elsewhere it may be another filing's.
    ifExists: ifExists ?? (`${inside}${path}`.includes(`/${accession}/`) ? 'skip' : 'compare'),
    listedSize: size,
    sha256,
    hashed,
  });
}

/** Stdout, a device, a FIFO; undefined for a plain file. */
export async function streamOf({ output, options }: Order, world: World): Promise<StreamTarget | undefined> {
  if (output === undefined) return undefined;
  const { sha256, spool } = options;
  const spoolIn = spool ? world.env.TMPDIR || '/tmp' : undefined;
  const path = resolve(world.cwd, output);
  if (output === '-') return { open: async () => stdoutWriter(world), sha256, spoolIn };
  return (await isStreamPath(path)) ? { open: (signal) => pathWriter(path, world.sleep, signal), sha256 } : undefined;
}

/** Whether a directory is on a disk of this machine, or will be when it is made. */
export async function isLocal(directory: string, platform: string): Promise<boolean> {
  const above = dirname(directory);
  const isMissing = above !== directory && (await lstat(directory).catch(() => undefined)) === undefined;
  return isMissing ? isLocal(above, platform) : (await diskUnder(directory, platform)).isLocal;
}

/** All that the options name, or none. */
export async function openOutputs(order: Order, session: Session, world: World) {
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
  { identity, settings: { pageSize, listing }, signal }: Session,
  world: World,
): Promise<DoneList | undefined> {
  const { done, include, exclude, dryRun } = options;
  if (done === undefined) return undefined;
  const selection = selectionId({
    service: identity,
    include,
    exclude,
    layout: layout.template,
    directory: resolve(world.cwd, directory),
    query: [
      ...query,
      ...(pageSize === undefined ? [] : [['page_size', `${pageSize}`] as const]),
      ...(listing === undefined ? [] : [['listing', JSON.stringify(listing)] as const]),
    ],
  });
  const path = resolve(world.cwd, done);
  return DoneList.open({ path, selection, now: world.now, readOnly: dryRun }, signal);
}
