// Decides where a run writes: the path of each file, or the stream of `--output`. Opens the report, the list of a dry
// run, and the done list.
import { constants, existsSync, readdirSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type DoneList, hashSelection, openDoneList } from '../../batch/done-list.ts';
import type { FileItem } from '../../batch/item.ts';
import { openReportFile } from '../../batch/report-file.ts';
import { SUMS_NAME } from '../../checksums/format.ts';
import { isSystemError, mapWriteErrors } from '../../disk/failure.ts';
import { nativePath, pathModule, splitPath } from '../../paths.ts';
import { findLastAccession } from '../../service/accession.ts';
import type { Session } from '../../session/session.ts';
import { createStandardWriter, openPathWriter } from '../../stdio/output.ts';
import { isStreamPath } from '../../stdio/output-path.ts';
import type { DiskTarget, StreamTarget, Target } from '../../transfer/plan.ts';
import type { World } from '../../world.ts';
import type { DownloadArgs } from './arguments.ts';

/** A target is `--output`, which may be the `stream`, or a path below `--directory` made by the layout. */
export function createTargetFinder(
  { options, root, paths: { output: outputPath } }: DownloadArgs,
  platform: string,
  stream?: StreamTarget,
): (file: Pick<FileItem, 'path' | 'accession'>) => Target {
  if (stream) return () => stream;
  const { output = '', directory, ifExists, sha256 } = options;
  if (outputPath !== undefined)
    return () => ({ path: outputPath, displayPath: output, ifExists: ifExists ?? 'overwrite', sha256 });
  const { join: joinPath } = pathModule(platform);
  // Not `root` plus a slash, because `/` ends in one already.
  const prefix = joinPath(root, '/');
  const displayDirectory = joinPath(directory, '/');
  const displayPrefix = displayDirectory === joinPath('.', '/') ? '' : displayDirectory;
  // The directory may be that of a filing, such as `-d mirror/0001234567-24-000001`.
  const directoryAccession = findLastAccession(splitPath(root, platform));
  // The members that all targets share are not spread into the object (`...shared`), because V8 takes ten times as long
  // for that, and there may be a million files.
  return ({ path: layoutPath, accession }): DiskTarget => {
    const native = nativePath(layoutPath, platform);
    const [path, displayPath] = [prefix + native, displayPrefix + native];
    // A directory named after a filing gets only files of this filing, so an existing one needs no download. Elsewhere,
    // an existing file may belong to another filing or to the user, so it is compared.
    const isOwnDirectory = (findLastAccession(layoutPath.split('/')) ?? directoryAccession) === accession;
    return {
      path,
      displayPath,
      ifExists: ifExists ?? (isOwnDirectory ? 'skip' : 'compare'),
      sha256,
    };
  };
}

/** The deepest directory that all files of the run are known to share, for the summary. */
export function findCommonDirectory({ options, layout, accessions }: DownloadArgs, platform: string): string {
  const below = accessions.length === 1 ? layout.directoryFor(accessions[0] ?? '') : '.';
  return pathModule(platform).join(options.directory, nativePath(below, platform));
}

/**
 * Whether files may have been downloaded here. Hidden names, SHA256SUMS, lost+found and the run's own files prove
 * nothing.
 */
function holdsFiles(path: string, ownPaths: readonly unknown[]): boolean {
  const isFile = (name: string) =>
    !name.startsWith('.') && name !== SUMS_NAME && name !== 'lost+found' && !ownPaths.includes(join(path, name));
  try {
    return readdirSync(path).some(isFile);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return false;
  }
}

/** Returns the stream if `--output` is stdout, a device or a FIFO. Returns undefined for a file, even a missing one. */
export async function findStream({ options, paths }: DownloadArgs, world: World): Promise<StreamTarget | undefined> {
  const { output, sha256 } = options;
  const path = paths.output;
  if (output === '-') return { open: async () => createStandardWriter('stdout', world), displayPath: null, sha256 };
  if (path === undefined || !(await isStreamPath(path))) return undefined;
  return { open: (signal) => openPathWriter(path, world, signal), displayPath: null, sha256 };
}

/** The file of `--failed` is written only at the end of the run, so its directory must be writable. */
export async function openOutputs(
  args: DownloadArgs,
  session: Session,
  world: World,
  cancel: (error: unknown) => void,
) {
  const { options, paths } = args;
  const { report: reportOption, dryRun } = options;
  const { failed } = paths;
  if (failed !== undefined && !dryRun)
    await mapWriteErrors(`--failed ${options.failed}`, () => access(dirname(failed), constants.W_OK));
  // First, because it looks whether the directory has files, and the report may become one.
  const done = await openDone(args, session, world);
  try {
    const open = (option: '--report' | '--dry-run', path?: string) =>
      openReportFile(option, path, world, world.interrupt, cancel);
    const report = reportOption === undefined ? undefined : await open('--report', paths.report);
    // With --report -, stdout has the report instead of the list. Otherwise there is no report left to close if this
    // fails, because `open` cannot fail for stdout.
    const dryRunList = dryRun && reportOption !== '-' ? await open('--dry-run') : undefined;
    return { report, dryRunList, done };
  } catch (error) {
    await done?.close();
    throw error;
  }
}

async function openDone(
  { options, layout, root, paths }: DownloadArgs,
  { client, settings: { listing, sandbox }, progress }: Session,
  world: World,
): Promise<DoneList | undefined> {
  const { include, exclude, query, dryRun, directory } = options;
  if (paths.done === undefined) return undefined;
  // The setting `listing` says how to read the listings of the service, so it also decides which files a filing has.
  const parameters = listing === undefined ? query : [...query, ['listing', JSON.stringify(listing)]];
  // The sandbox has another port in each run.
  const service = sandbox ? 'sandbox' : client.baseUrl.href;
  const sharesDirectory = !layout.hasOwnDirectories;
  const hasFiles = sharesDirectory && holdsFiles(join(root, layout.directoryFor('')), Object.values(paths));
  return openDoneList(
    {
      path: paths.done,
      selection: hashSelection(service, include, exclude, layout.template, root, parameters),
      now: world.now,
      readOnly: dryRun,
      sharesDirectory,
      findLoss(accession) {
        const below = layout.directoryFor(accession);
        const shown = join(directory, below);
        if (sharesDirectory) return hasFiles ? undefined : `${shown} has no files`;
        // `/.` exists only in a directory.
        return existsSync(`${join(root, below)}/.`) ? undefined : `${shown} does not exist`;
      },
      warn: progress.warnAboutFile,
    },
    world.interrupt,
  );
}
