// Finds where a run writes: the target of each file, the stream of `--output`, and the report and the done list. Only
// opening the report and the done list has an effect.
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { DoneList, selectionId } from '../../batch/done-list.ts';
import type { FileItem } from '../../batch/item.ts';
import { ReportFile } from '../../batch/report-file.ts';
import { mapWriteErrors } from '../../disk/failure.ts';
import { nativePath, pathModule, resolveTypedPath, splitPath } from '../../paths.ts';
import { type AccessionNumber, asAccession } from '../../service/accession.ts';
import type { Session } from '../../session/session.ts';
import { isStreamPath, pathWriter, stdoutWriter } from '../../stdio/byte-writer.ts';
import type { DiskTarget, StreamTarget } from '../../transfer/download.ts';
import type { World } from '../../world.ts';
import type { Order } from './order.ts';

/** Returns the target of a file: `--output`, otherwise the directory and the path from the layout. */
export function targetsOf(
  order: Order,
  { cwd, platform }: Pick<World, 'cwd' | 'platform'>,
): (file: Pick<FileItem, 'path' | 'accession'>) => DiskTarget {
  const { output, directory, options } = order;
  const { sha256, checksums: writesChecksums, dryRun: isDryRun } = options;
  const paths = pathModule(platform);
  if (output !== undefined) {
    const path = resolveTypedPath(output, { cwd, platform });
    const location = { directory: paths.dirname(path), below: '.', mustExist: true };
    const { ifExists = 'overwrite' } = options;
    return () => ({ path, location, displayPath: output, ifExists, sha256, writesChecksums, isDryRun });
  }
  const absolute = paths.resolve(cwd, directory);
  const inside = paths.join(absolute, '/');
  const shown = paths.join(directory, '/');
  const prefix = shown === paths.join('.', '/') ? '' : shown;
  const filingOfDirectory = filingOfPath(splitPath(absolute, platform));
  // Does not use a spread: V8 takes ten times as long for a spread with further members, and there may be a million
  // files.
  return ({ path, accession }) => {
    const native = nativePath(path, platform);
    // Elsewhere an existing file may belong to another filing, or to the user.
    const isOwn = (filingOfPath(path.split('/')) ?? filingOfDirectory) === accession;
    return {
      path: inside + native,
      displayPath: prefix + native,
      location: { directory: absolute, below: paths.dirname(path) },
      ifExists: options.ifExists ?? (isOwn ? 'skip' : 'compare'),
      sha256,
      writesChecksums,
      isDryRun,
    };
  };
}

/** Returns the directory of all files, for the summary. */
export function placeOf({ directory, layout, accessions }: Order, { platform }: Pick<World, 'platform'>) {
  const [accession] = accessions;
  const { path = '' } = accessions.length === 1 ? layout.pathFor(`${accession}`, 'a') : {};
  const paths = pathModule(platform);
  return paths.join(directory, paths.dirname(nativePath(path, platform)));
}

/** Returns the last accession number among the segments of a path. */
function filingOfPath(segments: readonly string[]): AccessionNumber | undefined {
  return asAccession(segments.findLast(asAccession) ?? '');
}

/** Returns the stream if `--output` is stdout, a device or a FIFO, and undefined if it is a plain file. */
export async function streamOf({ output, options }: Order, world: World): Promise<StreamTarget | undefined> {
  if (output === undefined) return undefined;
  const { sha256 } = options;
  const path = resolveTypedPath(output, world);
  if (output === '-') return { open: async () => stdoutWriter(world), sha256 };
  return (await isStreamPath(path)) ? { open: (signal) => pathWriter(path, world.sleep, signal), sha256 } : undefined;
}

/**
 * Opens the report and the done list, both or neither. Throws `local_io` if one of these or `--failed` cannot be
 * written.
 */
export async function openOutputs(order: Order, session: Session, world: World) {
  const { failed, dryRun } = order.options;
  if (failed !== undefined && !dryRun) {
    await mapWriteErrors(`--failed ${failed}`, () => access(dirname(resolve(world.cwd, failed)), constants.W_OK));
  }
  const { signal } = session;
  const report =
    order.report === undefined ? undefined : await ReportFile.open('--report', order.report, world, signal);
  // The report on stdout takes the place of the plan.
  const plan = dryRun && order.report !== '-' ? await ReportFile.open('--dry-run', '-', world, signal) : undefined;
  try {
    return { report, plan, done: await openDone(order, session, world) };
  } catch (error) {
    await report?.close();
    throw error;
  }
}

async function openDone(
  { options, layout, directory }: Order,
  { identity, settings: { listing }, signal }: Session,
  world: World,
): Promise<DoneList | undefined> {
  const { include, exclude, query, done, dryRun } = options;
  if (done === undefined) return undefined;
  const described = listing === undefined ? [] : [['listing', JSON.stringify(listing)]];
  const absolute = resolve(world.cwd, directory);
  const selection = selectionId(identity, include, exclude, layout.template, absolute, [...query, ...described]);
  const path = resolve(world.cwd, done);
  return DoneList.open({ path, selection, now: world.now, readOnly: dryRun }, signal);
}
