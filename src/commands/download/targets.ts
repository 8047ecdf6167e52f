// Decides where a run writes: the path of each file, or the stream of `--output`. Opens the report, the plan of a dry
// run, and the done list.
import { constants, existsSync, readdirSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DoneList, hashSelection } from '../../batch/done-list.ts';
import type { FileItem } from '../../batch/item.ts';
import { ReportFile } from '../../batch/report-file.ts';
import { SUMS_NAME } from '../../checksums/format.ts';
import { isSystemError, mapWriteErrors } from '../../disk/failure.ts';
import type { FilingsError } from '../../errors.ts';
import { nativePath, pathModule, resolveUserPath, splitPath } from '../../paths.ts';
import { type AccessionNumber, asAccession } from '../../service/accession.ts';
import type { Session } from '../../session/session.ts';
import { createStandardWriter, openPathWriter } from '../../stdio/output.ts';
import { isStreamPath } from '../../stdio/output-path.ts';
import type { DiskTarget, StreamTarget, Target } from '../../transfer/plan.ts';
import type { World } from '../../world.ts';
import type { DownloadArgs } from './arguments.ts';

/** A target is `--output`, which may be the `stream`, or a path below `--directory` made by the layout. */
export function createTargetFinder(
  args: DownloadArgs,
  { cwd, platform }: Pick<World, 'cwd' | 'platform'>,
  findConflict: (path: string, displayPath: string) => FilingsError | undefined,
  stream?: StreamTarget,
): (file: Pick<FileItem, 'path' | 'accession'>) => Target {
  if (stream) return () => stream;
  const { options } = args;
  const { output, directory, sha256 } = options;
  const paths = pathModule(platform);
  if (output !== undefined) {
    const path = resolveUserPath(output, { cwd, platform });
    const { ifExists = 'overwrite' } = options;
    return () => ({ path, displayPath: output, ifExists, sha256, conflict: findConflict(path, output) });
  }
  const absolute = paths.resolve(cwd, directory);
  // Not `absolute` plus a slash, because the root directory ends in one already.
  const prefix = paths.join(absolute, '/');
  const displayDirectory = paths.join(directory, '/');
  const displayPrefix = displayDirectory === paths.join('.', '/') ? '' : displayDirectory;
  // The directory may be that of a filing, such as `-d mirror/0001234567-24-000001`.
  const directoryAccession = findAccession(splitPath(absolute, platform));
  // The members that all targets share are not spread into the object (`...shared`), because V8 takes ten times as long
  // for that, and there may be a million files.
  return ({ path: layoutPath, accession }): DiskTarget => {
    const native = nativePath(layoutPath, platform);
    const [path, displayPath] = [prefix + native, displayPrefix + native];
    // A directory named after a filing gets only files of this filing, so an existing one needs no download. Elsewhere,
    // an existing file may belong to another filing or to the user, so it is compared.
    const isOwnDirectory = (findAccession(layoutPath.split('/')) ?? directoryAccession) === accession;
    return {
      path,
      displayPath,
      ifExists: options.ifExists ?? (isOwnDirectory ? 'skip' : 'compare'),
      sha256,
      conflict: findConflict(path, displayPath),
    };
  };
}

/** The deepest directory that all files of the run are known to share, for the summary. */
export function findCommonDirectory({ options, layout, accessions }: DownloadArgs, platform: string): string {
  const below = accessions.length === 1 ? layout.directoryFor(accessions[0] ?? '') : '.';
  return pathModule(platform).join(options.directory, nativePath(below, platform));
}

/** Whether a directory has any entry, apart from those that this program makes besides files, and a new disk has. */
function holdsFiles(path: string, ownPaths: readonly string[]): boolean {
  const isFile = (name: string) =>
    !name.startsWith('.') && name !== SUMS_NAME && name !== 'lost+found' && !ownPaths.includes(join(path, name));
  try {
    return readdirSync(path).some(isFile);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return false;
  }
}

/** Returns the last accession number among the segments of a path. */
function findAccession(segments: readonly string[]): AccessionNumber | undefined {
  return asAccession(segments.findLast(asAccession) ?? '');
}

/** Returns the stream if `--output` is stdout, a device or a FIFO. Returns undefined for a file, even a missing one. */
export async function findStream({ options }: DownloadArgs, world: World): Promise<StreamTarget | undefined> {
  const { output, sha256 } = options;
  if (output === undefined) return undefined;
  const path = resolveUserPath(output, world);
  if (output === '-') return { open: async () => createStandardWriter('stdout', world), displayPath: null, sha256 };
  return (await isStreamPath(path))
    ? { open: (signal) => openPathWriter(path, world, signal), displayPath: null, sha256 }
    : undefined;
}

/** The file of `--failed` is written only at the end of the run, so its directory must be writable. */
export async function openOutputs(
  args: DownloadArgs,
  session: Session,
  world: World,
  onError: (error: unknown) => void,
) {
  const { failed, report: reportPath, dryRun } = args.options;
  if (failed !== undefined && !dryRun) {
    await mapWriteErrors(`--failed ${failed}`, () => access(dirname(resolve(world.cwd, failed)), constants.W_OK));
  }
  // First, because it looks whether the directory has files, and the report may become one.
  const done = await openDone(args, session, world);
  try {
    const open = (option: '--report' | '--dry-run', path: string) =>
      ReportFile.open(option, path, world, world.interrupt, onError);
    const report = reportPath === undefined ? undefined : await open('--report', reportPath);
    // With --report -, stdout has the report instead of the plan. Otherwise there is no report left to close if this
    // fails, because `open` cannot fail for stdout.
    const plan = dryRun && reportPath !== '-' ? await open('--dry-run', '-') : undefined;
    return { report, plan, done };
  } catch (error) {
    await done?.close();
    throw error;
  }
}

async function openDone(
  { options, layout }: DownloadArgs,
  { client, settings: { listing, sandbox }, progress }: Session,
  world: World,
): Promise<DoneList | undefined> {
  const { include, exclude, query, done, dryRun, directory } = options;
  if (done === undefined) return undefined;
  // The setting `listing` says how to read the listings of the service, so it also decides which files a filing has.
  const parameters = listing === undefined ? query : [...query, ['listing', JSON.stringify(listing)]];
  // The sandbox has another port in each run.
  const service = sandbox ? 'sandbox' : client.baseUrl.href;
  const absolute = resolve(world.cwd, directory);
  const sharesDirectory = !layout.hasOwnDirectories;
  const ownPaths = [done, options.report, options.failed, options.input].map((path) => resolve(world.cwd, path ?? ''));
  const hasFiles = sharesDirectory && holdsFiles(join(absolute, layout.directoryFor('')), ownPaths);
  return DoneList.open(
    {
      path: resolve(world.cwd, done),
      selection: hashSelection(service, include, exclude, layout.template, absolute, parameters),
      now: world.now,
      readOnly: dryRun,
      sharesDirectory,
      findLoss(accession) {
        const below = layout.directoryFor(accession);
        // `/.` exists only in a directory.
        const mayExist = sharesDirectory ? hasFiles : existsSync(`${join(absolute, below)}/.`);
        return mayExist
          ? undefined
          : `${join(directory, below)} ${sharesDirectory ? 'has no files' : 'does not exist'}`;
      },
      warn: progress.warnAboutFile,
    },
    world.interrupt,
  );
}
