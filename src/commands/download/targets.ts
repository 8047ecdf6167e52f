// Finds where a run writes: the target of each file, the stream of `--output`, and the report and the done list. Takes
// the order, and returns what the batch writes to. Only opening the report and the done list has an effect.
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { DoneList, selectionId } from '../../batch/done-list.ts';
import type { FileItem } from '../../batch/item.ts';
import { FILE_NAME } from '../../batch/layout.ts';
import { openReport } from '../../batch/report-file.ts';
import { diskError } from '../../disk/failure.ts';
import { nativePath, pathsOf, segmentsOf, typedPath } from '../../paths.ts';
import { type AccessionNumber, accessionIn } from '../../service/accession.ts';
import type { Session } from '../../session/session.ts';
import { isStreamPath, pathWriter, stdoutWriter } from '../../stdio/byte-writer.ts';
import type { DiskTarget, StreamTarget } from '../../transfer/download.ts';
import type { World } from '../../world.ts';
import type { Order } from './order.ts';

/** Returns the path of a file as messages and reports show it. */
export function displayPathsOf(
  { output, directory }: Pick<Order, 'output' | 'directory'>,
  platform: string,
): (file: Pick<FileItem, 'path'>) => string {
  if (output !== undefined) return () => output;
  const paths = pathsOf(platform);
  const displayDirectory = paths.join(directory, '/');
  const prefix = displayDirectory === paths.join('.', '/') ? '' : displayDirectory;
  return ({ path }) => prefix + nativePath(path, platform);
}

/** Returns the target of a file: `--output`, otherwise the directory and the path from the layout. */
export function targetsOf(
  order: Order,
  { cwd, platform }: Pick<World, 'cwd' | 'platform'>,
): (file: Pick<FileItem, 'path' | 'accession' | 'size'>) => DiskTarget {
  const { output, directory, layout, options } = order;
  const { ifExists, sha256, checksums: hasChecksums, dryRun: isDryRun } = options;
  const paths = pathsOf(platform);
  if (output !== undefined) {
    const path = typedPath(output, { cwd, platform });
    const location = { directory: paths.dirname(path), below: undefined };
    const target = { path, location, displayPath: output, isOutput: true, isInOwnDirectory: false };
    return ({ accession }) => ({
      ...target,
      accession,
      listedSize: undefined,
      ifExists,
      sha256,
      hasChecksums,
      isDryRun,
    });
  }
  const absolute = paths.resolve(cwd, directory);
  const inside = paths.join(absolute, '/');
  const filingOfDirectory = filingOfPath(segmentsOf(absolute, platform));
  const template = layout.template.split('/');
  const displayPathOf = displayPathsOf(order, platform);
  // Does not use a spread: V8 takes ten times as long for a spread with further members, and there may be a million
  // files.
  return ({ path, accession, size }) => ({
    accession,
    path: inside + nativePath(path, platform),
    displayPath: displayPathOf({ path }),
    location: { directory: absolute, below: paths.dirname(path) },
    isOutput: false,
    isInOwnDirectory: filingOfPath(path.split('/'), template, filingOfDirectory) === accession,
    listedSize: size,
    ifExists,
    sha256,
    hasChecksums,
    isDryRun,
  });
}

/**
 * Returns the only filing whose files can have a path: the last segment that is an accession number. Returns undefined
 * if the layout builds that segment from the file's name, because a file of another filing may have the same name.
 * Returns `otherwise` if no segment is an accession number.
 */
export function filingOfPath(
  segments: readonly string[],
  template: readonly string[] = [],
  otherwise?: AccessionNumber,
): AccessionNumber | undefined {
  for (let index = segments.length - 1; index >= 0; index -= 1) {
    const accession = accessionIn(segments[index] ?? '');
    if (accession) return template[index]?.includes(FILE_NAME) ? undefined : accession;
  }
  return otherwise;
}

/** Returns the stream if `--output` is stdout, a device or a FIFO, and undefined if it is a plain file. */
export async function streamOf({ output, options }: Order, world: World): Promise<StreamTarget | undefined> {
  if (output === undefined) return undefined;
  const { sha256, spool } = options;
  const { platform } = world;
  const spoolIn = spool ? { directory: temporaryDirectory(world), platform } : undefined;
  const path = typedPath(output, world);
  if (output === '-') return { open: async () => stdoutWriter(world), sha256, spoolIn };
  return (await isStreamPath(path)) ? { open: (signal) => pathWriter(path, world.sleep, signal), sha256 } : undefined;
}

function temporaryDirectory({ env, platform }: Pick<World, 'env' | 'platform'>): string {
  return platform === 'win32' ? env.TEMP || env.TMP || '.' : env.TMPDIR || '/tmp';
}

/**
 * Opens the report and the done list, both or neither. Throws `local_io` if one of these or `--failed` cannot be
 * written.
 */
export async function openOutputs(order: Order, session: Session, world: World) {
  const { failed, dryRun } = order.options;
  if (failed !== undefined && !dryRun) {
    await access(dirname(resolve(world.cwd, failed)), constants.W_OK).catch((error) => {
      throw diskError(error, `--failed ${failed}`);
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
