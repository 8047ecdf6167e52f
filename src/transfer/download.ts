// The whole life of one file of a run, from its plan to its outcome.
import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { ChecksumFiles } from '../checksums/sums-files.ts';
import type { Directories, Directory } from '../disk/directory.ts';
import { toReadError, toWriteError } from '../disk/failure.ts';
import { hashFile } from '../disk/sha256.ts';
import { FilingsError, messageOf } from '../errors.ts';
import type { ServiceClient } from '../service/client.ts';
import type { FileProgress, Progress } from '../terminal/progress.ts';
import type { World } from '../world.ts';
import { type Ending, makeOutcome, type Outcome } from './outcome.ts';
import { keptPath, Part, removeKeptPart } from './part.ts';
import { createPipe } from './pipe.ts';
import {
  type DiskTarget,
  differentFileError,
  type KeepPlan,
  type NameTakenPlan,
  type Plan,
  planFile,
  type StreamTarget,
  type Target,
} from './plan.ts';
import type { Throttle } from './throttle.ts';
import { type RemoteFile, requireHash, type Sink, Transfer } from './transfer.ts';

/** What all downloads of a run share. */
export interface DownloadContext {
  readonly client: ServiceClient;
  readonly directories: Directories;
  /** Undefined without `--checksums`, and in a dry run. */
  readonly checksums: ChecksumFiles | undefined;
  readonly throttle: Throttle | undefined;
  readonly progress: Pick<Progress, 'addFile' | 'warnAboutFile'>;
  readonly isDryRun: boolean;
  readonly world: Pick<World, 'uid' | 'now' | 'monotonic' | 'random' | 'sleep' | 'secrets'>;
  readonly signal: AbortSignal;
}

/**
 * How much work a plan is:
 *
 *   fail; fetch or compare in a dry run    none: `endAtOnce`
 *   skip                                   none in a flushed directory without `--checksums`, else `run`
 *   check, and skip with `--checksums`     `run` with a job, because it may hash the file
 *   fetch, compare                         `run` with a job, and a request
 */
export class Download {
  readonly plan: Plan;
  readonly #file: RemoteFile;
  readonly #target: Target;
  readonly #context: DownloadContext;
  #transfer: Transfer | undefined;
  #keptBytes = 0;
  #onArrived: ((bytes: number) => void) | undefined;

  constructor(file: RemoteFile, target: Target, context: DownloadContext) {
    this.#file = file;
    this.#target = target;
    this.#context = context;
    this.plan = planFile(target);
  }

  get needsRequest(): boolean {
    return this.plan.kind === 'fetch' || this.plan.kind === 'compare';
  }

  get mayTakeLong(): boolean {
    return this.plan.kind !== 'skip' || this.#context.checksums !== undefined;
  }

  endAtOnce(): Outcome | undefined {
    const { plan } = this;
    const { displayPath: path } = this.#target;
    const { isDryRun, directories } = this.#context;
    if (plan.kind === 'fail') return makeOutcome({ result: 'failed', path, bytes: 0, error: plan.error });
    if (isDryRun && this.needsRequest) return makeOutcome({ result: 'planned', path, bytes: this.#file.size ?? 0 });
    if (plan.kind !== 'skip' || this.mayTakeLong || 'open' in this.#target) return undefined;
    // A skipped file must be durable, and must not have a kept part.
    const directory = directories.getRemembered(dirname(this.#target.path));
    const isSettled = directory?.areExistingEntriesFlushed && !existsSync(keptPath(this.#target));
    return isDryRun || isSettled ? makeOutcome({ result: 'skipped', path, bytes: plan.bytes }) : undefined;
  }

  /**
   * `onArrived` is called with the size of the file when all bytes have arrived, before they are flushed. Throws only
   * if this program has a bug.
   */
  async run(onArrived?: (bytes: number) => void): Promise<Outcome> {
    const { progress, world, signal } = this.#context;
    const { fileName, filing } = this.#file;
    const { displayPath } = this.#target;
    this.#onArrived = onArrived;
    const startMs = world.monotonic();
    const fileProgress = progress.addFile(fileName, this.plan.kind === 'compare');
    let ending: Ending;
    try {
      ending = await this.#carryOut(fileProgress);
    } catch (thrown) {
      const error = toWriteError(thrown, displayPath ?? fileName);
      if (!(error instanceof FilingsError)) throw error;
      const result = signal.aborted ? 'unfinished' : 'failed';
      ending = { result, bytes: 0, error: filing ? withListingHint(error) : error };
    } finally {
      fileProgress.finish();
    }
    if (ending.result === 'downloaded' && ending.bytes === 0)
      progress.warnAboutFile(`${displayPath ?? fileName}: the file is empty`);
    const ms = world.monotonic() - startMs;
    const attempts = this.#transfer?.requests ?? 0;
    return makeOutcome({ ...ending, path: displayPath, attempts, ms, keptBytes: this.#keptBytes });
  }

  async #carryOut(fileProgress: FileProgress): Promise<Ending> {
    const [target, plan] = [this.#target, this.plan];
    if ('open' in target) return this.#fetchToStream(target, fileProgress);
    if (plan.kind === 'fetch' || plan.kind === 'compare') return this.#fetchToDisk(target, fileProgress);
    return this.#keepExisting(target, plan);
  }

  async #fetchToStream({ open }: StreamTarget, fileProgress: FileProgress): Promise<Ending> {
    const { signal } = this.#context;
    const writer = await open(signal);
    try {
      return await this.#fetch(createPipe(writer, signal), fileProgress);
    } finally {
      await writer.end();
    }
  }

  async #fetchToDisk(target: DiskTarget, fileProgress: FileProgress): Promise<Ending> {
    const directory = await this.#checkBeforeRequest(target);
    const part = new Part(this.#file, target, this.plan, this.#context);
    try {
      if (directory) await part.claimKept(directory);
      const fetched = await this.#fetch(part, fileProgress);
      const keepPlan = await part.commit(fetched.sha256);
      if (!keepPlan) return fetched;
      const ending = await this.#keepExisting(target, keepPlan, part);
      await part.discard();
      const isSame = keepPlan.kind === 'compare' || keepPlan.kind === 'check';
      return isSame ? { ...fetched, ...ending, isSame } : ending;
    } catch (error) {
      this.#keptBytes = await part.abandon(error);
      throw error;
    }
  }

  /**
   * Throws if no file can be written there, so that none is requested. Creates nothing, because no response has arrived
   * yet: the directory may be missing.
   */
  async #checkBeforeRequest({ path, displayPath }: DiskTarget): Promise<Directory | undefined> {
    const { directories, checksums } = this.#context;
    try {
      const directory = directories.checkBeforeRequest(dirname(path));
      if (directory) await checksums?.at(directory).checkBeforeRequest();
      return directory;
    } catch (error) {
      if (!(error instanceof FilingsError)) throw error;
      const reason = `not requested: ${messageOf(error)}`;
      throw error.with({ reason, subject: { path: displayPath }, cause: error });
    }
  }

  async #fetch(sink: Sink, fileProgress: FileProgress): Promise<Ending> {
    const { sha256 } = this.#target;
    this.#transfer = new Transfer({ file: this.#file, sink, context: this.#context, fileProgress, sha256 });
    const fetched = await this.#transfer.run();
    this.#onArrived?.(fetched.bytes);
    return fetched;
  }

  /**
   * Leaves the final name to an existing file, after the checks of the plan. `part` has the fetched bytes if the plan
   * is to compare them, or if the file has appeared only during the download.
   */
  async #keepExisting(target: DiskTarget, plan: NameTakenPlan, part?: Part): Promise<Ending> {
    if (plan.kind === 'fail') throw plan.error;
    const { directories, isDryRun } = this.#context;
    const sha256 = await this.#checkExisting(target, plan, part);
    if (isDryRun) return { result: 'skipped', bytes: plan.bytes, sha256 };
    await removeKeptPart(target);
    const { path, displayPath } = target;
    const directory = directories.open(dirname(path));
    const sums = this.#context.checksums?.at(directory);
    const listed = await sums?.listExisting(basename(path), sha256, () => this.#hashExisting(target));
    if (listed?.isAsListed === false)
      this.#context.progress.warnAboutFile(`${displayPath}: differs from its entry in SHA256SUMS: see filings verify`);
    // The run that created the file may have died before its own flush. An earlier flush by this run does not cover a
    // file that has appeared since. Last, because it also flushes the name of a new SHA256SUMS.
    await (part ? directory.flush() : directory.flushExistingEntries());
    return { result: 'skipped', bytes: plan.bytes, sha256: listed?.sha256 ?? sha256 };
  }

  /** Returns the hash of the existing file if the plan is to read it. */
  async #checkExisting(target: DiskTarget, { kind, bytes }: KeepPlan, part?: Part): Promise<string | undefined> {
    const { displayPath, sha256: expected } = target;
    if (kind !== 'check' && kind !== 'compare') return undefined;
    // Files of different lengths are different, so they are not read.
    const fetchedHash = kind === 'compare' && part?.bytes === bytes ? await part.sha256() : undefined;
    if (kind === 'compare' && fetchedHash === undefined) throw differentFileError(displayPath, bytes, part?.bytes ?? 0);
    const sha256 = await this.#hashExisting(target);
    if (kind === 'check') requireHash(sha256, expected, displayPath);
    else if (sha256 !== fetchedHash) throw differentFileError(displayPath, bytes, bytes);
    return sha256;
  }

  #hashExisting({ path, displayPath }: DiskTarget): Promise<string> {
    return hashFile(path, this.#context.signal).catch((error) => {
      throw toReadError(error, displayPath);
    });
  }
}

/** The usual hint is to check the name, but a listed name cannot be wrong. */
function withListingHint(error: FilingsError): FilingsError {
  const hint = 'the file is in the listing, but the service does not have it: run it again later';
  return error.code === 'not_found' ? error.with({ hint }) : error;
}
