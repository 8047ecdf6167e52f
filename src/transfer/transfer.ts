// Fetches one file into a sink (its destination, see job.ts), with retries. Each attempt continues where the last one
// stopped, if `resume.ts` finds that both responses are of the same version of the file, and otherwise starts again at
// byte 0. The sink commits the bytes only after their length, and the hash if one is expected, have been checked.
import { createHash, type Hash } from 'node:crypto';
import { FilingsError, withResource } from '../errors.ts';
import { retry } from '../http/retry.ts';
import { type Hosts, type ServiceResponse, withHosts } from '../service/requests.ts';
import { requireHash } from './hashes.ts';
import type { CommitResult, Job, Sink } from './job.ts';
import {
  decide,
  findKnownTotal,
  findStrongValidator,
  makeRangeHeaders,
  type PartialFile,
  type RemoteVersion,
  singleValue,
} from './resume.ts';

/** What is known about a file after it has been fetched, checked and committed. */
interface FetchResult {
  readonly result: 'downloaded' | 'resumed';
  readonly bytes: number;
  readonly resumedBytes: number;
  readonly etag: string | undefined;
  readonly verifiedLength: boolean;
  readonly sha256: string | undefined;
  readonly commitResult: CommitResult;
}

/**
 * Fetches a file and finishes the sink, which may already have bytes of an earlier run. After a failure it abandons the
 * sink, and throws the error of the last attempt or of the sink, or the signal's reason.
 */
export async function fetchInto(job: Job, sink: Sink): Promise<FetchResult> {
  const { remoteFile, signal } = job;
  try {
    return await new Transfer(job, sink).run();
  } catch (error) {
    await sink.abandon(error);
    // The reason for an abort is not about this file, so it does not get the file's name.
    if (signal.aborted) throw error;
    const failure = withResource(remoteFile, error);
    // A sink that is not restartable is a pipe that has already had its first byte.
    throw sink.isRestartable ? failure : toTruncationError(failure);
  }
}

/** The state of one call of `fetchInto`, which all attempts share. */
class Transfer {
  readonly #job: Job;
  readonly #sink: Sink;
  #version: RemoteVersion;
  /** Hashes the bytes as they arrive. Undefined if no hash is needed, or if an earlier run wrote some of the bytes. */
  #hash: Hash | undefined;
  /** The most bytes that the sink has had at the start of an attempt. Only bytes beyond them are progress. */
  #farthest = 0;
  /** How many bytes the sink had when the body of the last attempt began. */
  #resumedBytes = 0;
  /** The SHA-256 of the whole file, after the attempt that received it. */
  #sha256: string | undefined;
  /** Which host this attempt asked, and which one answered after redirects, for errors. Undefined before an answer. */
  #hosts: Hosts | undefined;

  constructor(job: Job, sink: Sink) {
    this.#job = job;
    this.#sink = sink;
    this.#version = sink.version ?? {};
  }

  async run(): Promise<FetchResult> {
    const { client, signal, watcher } = this.#job;
    const lastResponse = await retry(() => this.#attempt(), client.options.retry, signal, {
      // Progress resets the number of retries. Bytes that were fetched before are no progress, because otherwise a file
      // that always stops at the same byte would be retried for ever.
      countNewBytes: () => this.#sink.bytes - this.#farthest,
      onRetry: (event) => watcher.onRetry(event),
    });
    const { bytes, validator, total } = this.#partial;
    const sha256 = this.#sha256;
    await watcher.onComplete?.(bytes, sha256);
    return {
      result: this.#resumedBytes > 0 ? 'resumed' : 'downloaded',
      bytes,
      resumedBytes: this.#resumedBytes,
      // `lastResponse` is undefined if a 416 said that all bytes were there already. They then have the ETag of the
      // earlier responses.
      etag: singleValue(lastResponse?.headers.etag) ?? (validator?.kind === 'etag' ? validator.value : undefined),
      // That 416 has also confirmed the length.
      verifiedLength: !lastResponse?.endsWithConnection || total !== undefined,
      sha256,
      // The commit comes last, after all checks.
      commitResult: await this.#sink.finish(),
    };
  }

  get #partial(): PartialFile {
    return { bytes: this.#sink.bytes, ...this.#version };
  }

  /** Returns the response whose body was received, or undefined if the sink had all bytes already. */
  async #attempt(): Promise<ServiceResponse | undefined> {
    const sink = this.#sink;
    this.#farthest = Math.max(this.#farthest, sink.bytes);
    this.#hosts = undefined;
    try {
      const response = await this.#open();
      // Read only now: `#open` may have restarted the sink.
      this.#resumedBytes = sink.bytes;
      this.#job.watcher.onAttempt(this.#version.total, sink.bytes);
      if (response) await this.#receive(response);
      if (this.#job.needsHash) this.#sha256 = await this.#computeHash();
      requireHash(this.#sha256, this.#job.expectedSha256);
      return response;
    } catch (thrown) {
      const error = this.#hosts ? withHosts(this.#hosts, thrown) : thrown;
      // A pipe cannot start again, and nothing can be resumed without a validator. So a retry would be useless.
      const isStuck = !sink.isRestartable && this.#version.validator === undefined;
      throw isStuck && error instanceof FilingsError ? error.with({ retryable: false }) : error;
    }
  }

  /**
   * Requests the rest of the file and prepares the sink. Returns the response whose body the sink needs, or undefined
   * if it has all bytes. The loop runs twice if the response to the range cannot be used: with 0 as `bytes`, the second
   * request has no range. It never runs a third time, because without a range `openFile` returns only a 200.
   */
  async #open(): Promise<ServiceResponse | undefined> {
    const { client, remoteFile, signal } = this.#job;
    for (let partial = this.#partial; ; partial = { ...partial, bytes: 0 }) {
      this.#job.requestCount += 1;
      const { accession, fileName } = remoteFile;
      const response = await client.openFile(accession, fileName, makeRangeHeaders(partial), signal);
      this.#hosts = response.hosts;
      const decision = decide(partial, response);
      if (decision.kind === 'restart') await this.#restart(response);
      if (decision.kind === 'append') this.#version = { ...this.#version, total: decision.total };
      if (decision.kind === 'restart' || decision.kind === 'append') return response;
      response.discard();
      if (decision.kind === 'complete') return undefined;
      if (decision.kind === 'refuse') throw new FilingsError('integrity', decision.reason);
      // The decision is `retry-whole`.
      this.#requireRestartable();
    }
  }

  /** Prepares for a body that begins at byte 0. */
  async #restart(response: ServiceResponse): Promise<void> {
    const total = response.length ?? findKnownTotal(this.#partial, response);
    try {
      this.#requireRestartable();
      this.#version = { validator: findStrongValidator(response.headers), total, address: response.address };
      await this.#sink.restart(this.#version);
      if (this.#job.needsHash) this.#hash = createHash('sha256');
    } catch (error) {
      response.discard();
      throw error;
    }
  }

  #requireRestartable(): void {
    if (this.#sink.isRestartable) return;
    throw new FilingsError(
      'integrity',
      'cannot be resumed: the file has changed, or the service does not support ranges',
    );
  }

  /**
   * Writes a body to the sink. Throws unless the file is then known to be whole: either the body ended where HTTP's
   * framing and the range say, or an earlier response or the expected hash proves it.
   */
  async #receive(response: ServiceResponse): Promise<void> {
    const { maxWriteBytes } = this.#sink;
    if (maxWriteBytes !== undefined) response.body.limitReads(maxWriteBytes);
    try {
      for (let chunks = await response.body.read(); chunks; chunks = await response.body.read()) {
        const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
        this.#requireRoom(size);
        await this.#sink.write(chunks);
        if (this.#hash) for (const chunk of chunks) this.#hash.update(chunk);
        await this.#job.watcher.onReceived(size);
      }
      this.#requireWhole(response);
    } catch (error) {
      response.discard();
      if (!(await this.#isWholeAnyway(error))) throw error;
    }
  }

  /** Throws `integrity` for bytes after the total. HTTP's framing alone does not prevent them in a chunked 206. */
  #requireRoom(size: number): void {
    const { bytes, total } = this.#partial;
    if (total === undefined || bytes + size <= total) return;
    throw new FilingsError('integrity', `received more than the expected ${total} bytes`);
  }

  #requireWhole({ length, endsWithConnection }: ServiceResponse): void {
    const { bytes, total } = this.#partial;
    if (total !== undefined && bytes !== total) {
      throw new FilingsError('integrity', `truncated: received ${bytes} of ${total} bytes`, { retryable: true });
    }
    // Bytes without a known total are accepted: if the body's end were visibly wrong, reading it would have thrown.
    if (bytes > 0 || length === 0) return;
    // Without a length, an empty file looks the same as a connection that broke before the first byte.
    // Only a broken connection may bring more next time. An empty body that ended properly would be sent again.
    throw new FilingsError('integrity', 'empty response without a length', {
      retryable: endsWithConnection,
      subcode: 'unproved-end',
    });
  }

  /**
   * Returns whether an error only says that the end of the body is unconfirmed, and something else proves that the file
   * is whole: the total from an earlier response or a range, or the expected hash.
   */
  async #isWholeAnyway(error: unknown): Promise<boolean> {
    if (!(error instanceof FilingsError && error.subcode === 'unproved-end')) return false;
    const { bytes, total } = this.#partial;
    const { expectedSha256 } = this.#job;
    return bytes === total || (expectedSha256 !== undefined && (await this.#computeHash()) === expectedSha256);
  }

  /**
   * Returns the SHA-256 of the bytes so far, from the running hash or from the sink. Hashes a copy, because a digest
   * ends a hash and more bytes may follow.
   */
  async #computeHash(): Promise<string | undefined> {
    return this.#hash ? this.#hash.copy().digest('hex') : this.#sink.sha256?.();
  }
}

/**
 * Turns an error into `integrity`, because what the reader of the pipe has got is truncated, or else has the wrong
 * hash. An interrupt and a failed write to the pipe keep their codes.
 */
function toTruncationError(error: unknown): unknown {
  if (!(error instanceof FilingsError) || error.code === 'interrupted' || error.code === 'local_io') return error;
  return error.with({
    code: 'integrity',
    hint: 'the pipe has already received the beginning of the file; -o FILE writes all or nothing',
  });
}
