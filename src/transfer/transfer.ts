// Fetches one file into a sink, with retries. Each attempt resumes at the end of the last one if both responses
// provably belong to the same file. Takes the sink and the expected hash; gives the size, the hash and the placement.
import { createHash, type Hash } from 'node:crypto';
import { FilingsError, withResource } from '../errors.ts';
import { retry } from '../http/retry.ts';
import { type Hosts, type ServiceResponse, withHosts } from '../service/requests.ts';
import { requireHash } from './hashes.ts';
import type { Job, Placement, Sink } from './job.ts';
import {
  decide,
  knownTotal,
  type PartialFile,
  type RemoteVersion,
  rangeRequest,
  singleValue,
  strongValidator,
} from './resume.ts';

/** A complete and checked transfer. */
interface FetchResult {
  readonly result: 'downloaded' | 'resumed';
  readonly bytes: number;
  readonly resumedBytes: number;
  readonly etag: string | undefined;
  readonly verifiedLength: boolean;
  readonly sha256: string | undefined;
  readonly placement: Placement;
}

/**
 * Returns the checked transfer, after it finished the sink. Throws the error of the last attempt, an error of the sink,
 * or the signal's reason; the sink is abandoned before.
 */
export async function fetchInto(job: Job, sink: Sink): Promise<FetchResult> {
  const { remoteFile, signal } = job;
  try {
    return await new Transfer(job, sink).run();
  } catch (error) {
    await sink.abandon(error);
    if (signal.aborted) throw error;
    const failure = withResource(remoteFile, error);
    throw sink.isRestartable ? failure : toTruncationError(failure);
  }
}

/** The state of one call of `fetchInto`, which all attempts share. */
class Transfer {
  readonly #job: Job;
  readonly #sink: Sink;
  #version: RemoteVersion;
  /** The hash of all bytes so far. Undefined if no hash is needed, or if an earlier run wrote some of the bytes. */
  #hash: Hash | undefined;
  /** The most bytes that the sink had before an attempt. */
  #farthest = 0;
  #resumedBytes = 0;
  #sha256: string | undefined;
  /** The hosts of the last response of this attempt; undefined before it. */
  #hosts: Hosts | undefined;

  constructor(job: Job, sink: Sink) {
    this.#job = job;
    this.#sink = sink;
    this.#version = sink.version ?? {};
  }

  async run(): Promise<FetchResult> {
    const { client, signal, watcher } = this.#job;
    const lastResponse = await retry(() => this.#attempt(), client.options.retry, signal, {
      // Only new bytes are progress, so that the retries of a file that always stops at the same byte end.
      progress: () => this.#sink.bytes - this.#farthest,
      onRetry: (event) => watcher.retry(event),
    });
    const { bytes, validator, total } = this.#partial;
    const sha256 = this.#sha256;
    await watcher.complete?.(bytes, sha256);
    return {
      result: this.#resumedBytes > 0 ? 'resumed' : 'downloaded',
      bytes,
      resumedBytes: this.#resumedBytes,
      etag: singleValue(lastResponse?.headers.etag) ?? (validator?.kind === 'etag' ? validator.value : undefined),
      verifiedLength: !lastResponse?.isUntilClose || total !== undefined,
      sha256,
      placement: await this.#sink.finish(),
    };
  }

  get #partial(): PartialFile {
    return { bytes: this.#sink.bytes, ...this.#version };
  }

  async #attempt(): Promise<ServiceResponse | undefined> {
    const sink = this.#sink;
    this.#farthest = Math.max(this.#farthest, sink.bytes);
    this.#hosts = undefined;
    try {
      const response = await this.#open();
      this.#resumedBytes = sink.bytes;
      this.#job.watcher.total(this.#version.total, sink.bytes);
      if (response) await this.#receive(response);
      if (this.#job.isHashed) this.#sha256 = await this.#hashed();
      requireHash(this.#sha256, this.#job.expected);
      return response;
    } catch (thrown) {
      const error = this.#hosts ? withHosts(this.#hosts, thrown) : thrown;
      // Without a validator a pipe can neither be resumed nor restarted, so a retry is useless after any error.
      const isStuck = !sink.isRestartable && this.#version.validator === undefined;
      throw isStuck && error instanceof FilingsError ? error.with({ retryable: false }) : error;
    }
  }

  /** Returns the response whose body comes next, or undefined if the sink has all bytes. Prepares the sink for it. */
  async #open(): Promise<ServiceResponse | undefined> {
    const { client, remoteFile, signal } = this.#job;
    for (let partial = this.#partial; ; partial = { ...partial, bytes: 0 }) {
      this.#job.attempts += 1;
      const { accession, fileName } = remoteFile;
      const response = await client.openFile(accession, fileName, rangeRequest(partial), signal);
      this.#hosts = response.hosts;
      const decision = decide(partial, response);
      if (decision.kind === 'restart') await this.#restart(response);
      if (decision.kind === 'append') this.#version = { ...this.#version, total: decision.total };
      if (decision.kind === 'restart' || decision.kind === 'append') return response;
      response.discard();
      if (decision.kind === 'complete') return undefined;
      if (decision.kind === 'refuse') throw new FilingsError('integrity', decision.reason);
      this.#requireRestartable();
    }
  }

  async #restart(response: ServiceResponse): Promise<void> {
    const total = response.length ?? knownTotal(this.#partial, response);
    try {
      this.#requireRestartable();
      this.#version = { validator: strongValidator(response.headers), total, address: response.address };
      await this.#sink.begin(this.#version);
      if (this.#job.isHashed) this.#hash = createHash('sha256');
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

  /** Writes a body to the sink. Fails unless framing and range fit, or the expected hash matches. */
  async #receive(response: ServiceResponse): Promise<void> {
    const { writeBytes } = this.#sink;
    if (writeBytes !== undefined) response.body.limitReads(writeBytes);
    try {
      for (let chunks = await response.body.read(); chunks; chunks = await response.body.read()) {
        const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
        this.#requireRoom(size);
        await this.#sink.write(chunks);
        if (this.#hash) for (const chunk of chunks) this.#hash.update(chunk);
        await this.#job.watcher.received(size);
      }
      this.#requireWhole(response);
    } catch (error) {
      response.discard();
      if (!(await this.#isProvedOtherwise(error))) throw error;
    }
  }

  /** Throws `integrity` for bytes after the total: a chunked 206 may have more bytes than its range. */
  #requireRoom(size: number): void {
    const { bytes, total } = this.#partial;
    if (total === undefined || bytes + size <= total) return;
    throw new FilingsError('integrity', `received more than the expected ${total} bytes`);
  }

  #requireWhole({ length, isUntilClose }: ServiceResponse): void {
    const { bytes, total } = this.#partial;
    if (total !== undefined && bytes !== total) {
      throw new FilingsError('integrity', `truncated: received ${bytes} of ${total} bytes`, { retryable: true });
    }
    if (bytes > 0 || length === 0) return;
    // Without a length, an empty file looks the same as a connection that broke before the first byte.
    throw new FilingsError('integrity', 'empty response without a length', {
      retryable: isUntilClose,
      fault: 'unproved-end',
    });
  }

  /** Returns whether a body with an unconfirmed end is whole: it has the total of the range, or the expected hash. */
  async #isProvedOtherwise(error: unknown): Promise<boolean> {
    if (!(error instanceof FilingsError && error.fault === 'unproved-end')) return false;
    const { bytes, total } = this.#partial;
    const { expected } = this.#job;
    return bytes === total || (expected !== undefined && (await this.#hashed()) === expected);
  }

  async #hashed(): Promise<string | undefined> {
    return this.#hash ? this.#hash.copy().digest('hex') : this.#sink.sha256?.();
  }
}

/** Returns `integrity` with a hint for an error after a pipe got some bytes, because these cannot be undone. */
function toTruncationError(error: unknown): unknown {
  if (!(error instanceof FilingsError) || error.code === 'interrupted' || error.code === 'local_io') return error;
  return error.with({
    code: 'integrity',
    hint: 'a part of the file is already in the pipe; -o FILE writes all or nothing',
  });
}
