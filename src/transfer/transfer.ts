// Fetches one file into a sink, with retries. Each attempt continues where the last one stopped, if `resume.ts` finds
// that both responses are of the same version of the file, and otherwise starts again at byte 0. When `run` returns,
// the length of the bytes has been checked, and their hash, if one is expected.
import { createHash, type Hash } from 'node:crypto';
import { addResource, FilingsError } from '../errors.ts';
import { describeRetry } from '../http/retry.ts';
import type { AccessionNumber } from '../service/accession.ts';
import { addHosts, type Hosts, type ServiceResponse } from '../service/requester.ts';
import type { FileProgress } from '../terminal/progress.ts';
import { humanBytes, humanSizes } from '../text.ts';
import type { DownloadContext } from './download.ts';
import type { Ending } from './outcome.ts';
import {
  decideResume,
  findKnownTotal,
  findStrongValidator,
  makeRangeHeaders,
  type PartialFile,
  type RemoteVersion,
  singleValue,
} from './resume.ts';

/** With `--limit-rate`, at most so many bytes are read at once, so that the progress bar advances in small steps. */
const THROTTLED_READ_BYTES = 16_384;

export interface RemoteFile {
  readonly accession: AccessionNumber;
  readonly fileName: string;
  /** In bytes, if a listing says so. */
  readonly size: number | undefined;
  /** Set if the file was selected from a listing. */
  readonly filing: object | undefined;
}

export interface Sink {
  /** The number of bytes so far, including those of an earlier run. */
  readonly bytes: number;
  /** The remote file's version to which the bytes so far belong. */
  version: RemoteVersion;
  /** The most bytes that one write should have. */
  readonly maxWriteBytes?: number;
  /** Whether `restart` can be called. For a pipe it cannot be called after the first byte. */
  readonly isRestartable: boolean;
  /**
   * Drops the bytes so far, if there are any, and starts at byte 0 of `version`. To resume, it is not called, and
   * `write` appends to the bytes that the sink has.
   */
  restart(): Promise<void>;
  write(chunks: readonly Buffer[]): Promise<void>;
  /**
   * Reads the bytes back to hash them. Needed if an earlier run wrote some of them. Missing in a sink that never has
   * such bytes.
   */
  sha256?(): Promise<string>;
}

interface TransferOptions {
  readonly file: RemoteFile;
  readonly sink: Sink;
  readonly context: DownloadContext;
  readonly fileProgress: FileProgress;
  /** `--sha256`, in lower case. */
  readonly sha256: string | undefined;
}

export class Transfer {
  /** An attempt makes one request, or two if it asks for a range, cannot use the response, and asks for the whole. */
  requests = 0;
  readonly #options: TransferOptions;
  /** Hashes the bytes as they arrive. Undefined if no hash is needed, or if an earlier run wrote some of the bytes. */
  #hash: Hash | undefined;
  /** The most bytes that the sink has had at the start of an attempt. */
  #farthest = 0;
  /** How many bytes the sink had when the body of the last attempt began. */
  #resumedBytes = 0;
  #sha256: string | undefined;
  /** For errors. Undefined before an answer. */
  #hosts: Hosts | undefined;

  constructor(options: TransferOptions) {
    this.#options = options;
  }

  async run(): Promise<Ending> {
    const { file, sink, context, fileProgress } = this.#options;
    const { client, signal } = context;
    try {
      const lastResponse = await client.retry(() => this.#attempt(), signal, {
        // Progress resets the number of retries. Bytes that were fetched before are no progress, because otherwise a
        // file that always stops at the same byte would be retried for ever.
        countNewBytes: () => sink.bytes - this.#farthest,
        onRetry: (event) => fileProgress.noteWait(describeRetry(event)),
      });
      return this.#describe(lastResponse);
    } catch (error) {
      // The reason for an abort is not about this file, so it does not get the file's name.
      if (signal.aborted) throw error;
      const failure = addResource(file, error);
      // A sink that is not restartable is a pipe that has already had its first byte.
      throw sink.isRestartable ? failure : toTruncationError(failure);
    }
  }

  /** `lastResponse` is undefined if a 416 said that all bytes were there already. */
  #describe(lastResponse: ServiceResponse | undefined): Ending {
    const { bytes, validator, total } = this.#partial;
    const resumedBytes = this.#resumedBytes;
    // After that 416, the bytes have the ETag of the earlier responses, and it has confirmed the length.
    const etag = singleValue(lastResponse?.headers.etag) ?? (validator?.kind === 'etag' ? validator.value : undefined);
    const verifiedLength = !lastResponse?.endsWithConnection || total !== undefined;
    const result = resumedBytes > 0 ? 'resumed' : 'downloaded';
    return { result, bytes, resumedBytes, etag, verifiedLength, sha256: this.#sha256 };
  }

  get #needsHash(): boolean {
    return this.#options.context.checksums !== undefined || this.#options.sha256 !== undefined;
  }

  get #partial(): PartialFile {
    const { bytes, version } = this.#options.sink;
    return { bytes, ...version };
  }

  /** Returns the response whose body was received, or undefined if the sink had all bytes already. */
  async #attempt(): Promise<ServiceResponse | undefined> {
    const { sink, fileProgress, sha256: expected } = this.#options;
    this.#farthest = Math.max(this.#farthest, sink.bytes);
    this.#hosts = undefined;
    try {
      const response = await this.#open();
      // Read only now: `#open` may have restarted the sink.
      this.#resumedBytes = sink.bytes;
      fileProgress.beginResponse(sink.version.total, sink.bytes);
      if (response) await this.#receive(response);
      if (this.#needsHash) this.#sha256 = await this.#computeHash();
      requireHash(this.#sha256, expected);
      return response;
    } catch (thrown) {
      const error = this.#hosts ? addHosts(this.#hosts, thrown) : thrown;
      // A pipe cannot start again. So if the rest cannot be requested either, a retry would be useless.
      const isStuck = !sink.isRestartable && !('range' in this.#rangeHeaders(this.#partial));
      throw isStuck && error instanceof FilingsError ? error.with({ retryable: false }) : error;
    }
  }

  /**
   * Requests the rest of the file and prepares the sink. Returns undefined if the sink has all bytes. The loop runs
   * twice if the response to the range cannot be used: with 0 as `bytes`, the second request has no range. It never
   * runs a third time, because without a range `requestFile` returns only a 200.
   */
  async #open(): Promise<ServiceResponse | undefined> {
    const { file, sink, context } = this.#options;
    for (let partial = this.#partial; ; partial = { ...partial, bytes: 0 }) {
      this.requests += 1;
      const rangeHeaders = this.#rangeHeaders(partial);
      const response = await context.client.requestFile(file.accession, file.fileName, rangeHeaders, context.signal);
      this.#hosts = response.hosts;
      const decision = decideResume(partial, response);
      if (decision.kind === 'restart') await this.#restart(response);
      if (decision.kind === 'append') sink.version = { ...sink.version, total: decision.total };
      if (decision.kind === 'restart' || decision.kind === 'append') return response;
      response.discard();
      if (decision.kind === 'complete') return undefined;
      if (decision.kind === 'refuse') throw new FilingsError('integrity', decision.reason);
      // The decision is `retry-whole`.
      this.#requireRestartable();
    }
  }

  #rangeHeaders(partial: PartialFile): Record<string, string> {
    return makeRangeHeaders(partial, this.#options.context.world.secrets);
  }

  async #restart(response: ServiceResponse): Promise<void> {
    const { sink } = this.#options;
    const total = response.contentLength ?? findKnownTotal(this.#partial, response);
    try {
      this.#requireRestartable();
      sink.version = { validator: findStrongValidator(response.headers), total, address: response.address };
      await sink.restart();
      if (this.#needsHash) this.#hash = createHash('sha256');
    } catch (error) {
      response.discard();
      throw error;
    }
  }

  #requireRestartable(): void {
    if (this.#options.sink.isRestartable) return;
    throw new FilingsError(
      'integrity',
      'cannot be resumed: the file has changed, or the service does not support ranges',
    );
  }

  /**
   * Throws unless the file is then known to be whole: either the body ended where HTTP's framing and the range say, or
   * an earlier response or the expected hash proves it.
   */
  async #receive(response: ServiceResponse): Promise<void> {
    const { sink, context } = this.#options;
    const maxReadBytes = context.throttle ? THROTTLED_READ_BYTES : sink.maxWriteBytes;
    if (maxReadBytes !== undefined) response.body.limitReads(maxReadBytes);
    try {
      for (let chunks = await response.body.read(); chunks; chunks = await response.body.read()) {
        const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
        this.#requireRoom(size);
        await sink.write(chunks);
        if (this.#hash) for (const chunk of chunks) this.#hash.update(chunk);
        await this.#noteReceived(size);
      }
      this.#requireWhole(response);
    } catch (error) {
      response.discard();
      if (!(await this.#isWholeAnyway(error))) throw error;
    }
  }

  async #noteReceived(bytes: number): Promise<void> {
    const { fileProgress, context } = this.#options;
    const { client, throttle, signal } = context;
    client.countBytes(bytes);
    if (throttle) await throttle(bytes, signal);
    fileProgress.advance(bytes);
  }

  /** Throws `integrity` for bytes after the total. HTTP's framing alone does not prevent them in a chunked 206. */
  #requireRoom(size: number): void {
    const { bytes, total } = this.#partial;
    if (total === undefined || bytes + size <= total) return;
    throw new FilingsError('integrity', `received more than the expected ${humanBytes(total)}`);
  }

  #requireWhole({ endsWithConnection }: ServiceResponse): void {
    const { bytes, total } = this.#partial;
    if (total !== undefined && bytes !== total) {
      const amount = humanSizes(bytes, total).join(' of ');
      throw new FilingsError('integrity', `truncated: received ${amount}`, { retryable: true });
    }
    // Bytes without a known total are accepted: if the body's end were visibly wrong, reading it would have thrown.
    if (bytes > 0 || !endsWithConnection) return;
    // An empty file looks the same as a connection that broke before the first byte.
    throw new FilingsError('integrity', 'empty response without a length', {
      hint: 'run it again later; if the file has to be empty, --sha256 can prove it',
      retryable: true,
      subcode: 'unproved-end',
    });
  }

  /** Whether an error only says that the end of the body is unproved, and a total or the expected hash proves it. */
  async #isWholeAnyway(error: unknown): Promise<boolean> {
    if (!(error instanceof FilingsError && error.subcode === 'unproved-end')) return false;
    const { bytes, total } = this.#partial;
    const { sha256 } = this.#options;
    return bytes === total || (sha256 !== undefined && (await this.#computeHash()) === sha256);
  }

  /** Hashes a copy, because a digest ends a hash and more bytes may follow. */
  async #computeHash(): Promise<string | undefined> {
    return this.#hash ? this.#hash.copy().digest('hex') : this.#options.sink.sha256?.();
  }
}

/** What the reader of the pipe has got is truncated, or has the wrong hash. */
function toTruncationError(error: unknown): unknown {
  if (!(error instanceof FilingsError) || error.code === 'interrupted' || error.code === 'local_io') return error;
  return error.with({
    code: 'integrity',
    hint: 'the pipe has already received the beginning of the file; -o FILE writes all or nothing',
  });
}

/** `path` is passed only for an existing file: the error of a fetched one gets its accession number and name. */
export function requireHash(actual: string | undefined, expected: string | undefined, path?: string): void {
  if (expected === undefined || actual === expected) return;
  const replaceHint = path === undefined ? '' : '; to download the file again: --if-exists overwrite';
  throw new FilingsError('integrity', `wrong hash: expected ${expected}, but its SHA-256 is ${actual}`, {
    subject: { path },
    hint: `check that --sha256 is the hash of this file${replaceHint}`,
  });
}
