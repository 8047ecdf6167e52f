import { createHash, type Hash } from 'node:crypto';
import { about, FilingsError } from '../errors.ts';
import { retry } from '../http/retry.ts';
import { type Hosts, namingHosts } from '../service/redirect.ts';
import type { ServiceAnswer } from '../service/requests.ts';
import { requireHash } from './existing.ts';
import type { Hashing, Job, Placement, Sink } from './job.ts';
import {
  decide,
  knownTotal,
  type PartialFile,
  type RemoteVersion,
  rangeRequest,
  single,
  strongValidator,
} from './resume.ts';

export interface Fetched {
  readonly bytes: number;
  readonly resumedBytes: number;
  readonly etag: string | undefined;
  readonly verifiedLength: boolean;
  readonly sha256: string | undefined;
  readonly placement: Placement;
}

/**
 * The sink is finished then or, when this throws, abandoned. Throws the last failure, what the sink throws, the
 * signal's reason.
 */
export async function fetchInto(job: Job, sink: Sink, hashing: Hashing): Promise<Fetched> {
  const { wanted, signal } = job;
  try {
    return await new Transfer(job, sink, hashing).run();
  } catch (error) {
    await sink.abandon(error);
    if (signal.aborted) throw error;
    const told = about(wanted, error);
    throw sink.restartable ? told : cutShort(told);
  }
}

/** Each attempt continues where the last one stopped when that is provably the same file. */
class Transfer {
  readonly #job: Job;
  readonly #sink: Sink;
  readonly #hashing: Hashing;
  #version: RemoteVersion;
  /** Of all bytes; undefined where nobody asks for it, or an earlier run has written some. */
  #hash: Hash | undefined;
  #farthest = 0;
  #resumedBytes = 0;
  /** Of the attempt's last answer; undefined before it. */
  #hosts: Hosts | undefined;

  constructor(job: Job, sink: Sink, hashing: Hashing) {
    this.#job = job;
    this.#sink = sink;
    this.#hashing = hashing;
    this.#version = sink.version ?? {};
  }

  async run(): Promise<Fetched> {
    const { client, signal, watcher } = this.#job;
    const last = await retry(() => this.#attempt(), client.options.retry, signal, {
      // A file that always breaks at the same byte must come to an end.
      progress: () => this.#sink.bytes - this.#farthest,
      onRetry: (event) => watcher.retry(event),
    });
    const sha256 = this.#hashing.isHashed ? await this.#sha256() : undefined;
    if (sha256 !== undefined) this.#requireExpected(sha256);
    const { bytes, validator, total } = this.#held;
    watcher.complete?.(bytes);
    return {
      bytes,
      resumedBytes: this.#resumedBytes,
      etag: single(last?.headers.etag) ?? (validator?.kind === 'etag' ? validator.value : undefined),
      verifiedLength: !last?.untilClose || total !== undefined,
      sha256,
      placement: await this.#sink.finish(),
    };
  }

  get #held(): PartialFile {
    return { bytes: this.#sink.bytes, ...this.#version };
  }

  #requireExpected(sha256: string): void {
    try {
      requireHash(sha256, this.#hashing.expected);
    } catch (error) {
      throw this.#named(error);
    }
  }

  /** An error about an answer behind a redirect names both hosts. */
  #named(error: unknown): unknown {
    return this.#hosts ? namingHosts(this.#hosts, error) : error;
  }

  async #attempt(): Promise<ServiceAnswer | undefined> {
    const sink = this.#sink;
    this.#farthest = Math.max(this.#farthest, sink.bytes);
    this.#hosts = undefined;
    try {
      const answer = await this.#open();
      this.#resumedBytes = sink.bytes;
      this.#job.watcher.total(this.#version.total, sink.bytes);
      if (answer) await this.#receive(answer);
      return answer;
    } catch (thrown) {
      const error = this.#named(thrown);
      // A pipe that can't be resumed has failed for good, whatever the reason.
      const isStuck = !sink.restartable && this.#version.validator === undefined;
      throw isStuck && error instanceof FilingsError ? error.with({ retryable: false }) : error;
    }
  }

  /** Prepares the sink; undefined when nothing is missing. Throws what stands in the way. */
  async #open(): Promise<ServiceAnswer | undefined> {
    const { client, wanted, signal } = this.#job;
    for (let held = this.#held; ; held = { ...held, bytes: 0 }) {
      this.#job.attempts += 1;
      const answer = await client.openFile(wanted.accession, wanted.fileName, rangeRequest(held), signal);
      this.#hosts = answer.hosts;
      const decision = decide(held, answer);
      if (decision.kind === 'restart') await this.#restart(answer);
      if (decision.kind === 'append') this.#version = { ...this.#version, total: decision.total };
      if (decision.kind === 'restart' || decision.kind === 'append') return answer;
      answer.discard();
      if (decision.kind === 'complete') return undefined;
      if (decision.kind === 'refuse') throw new FilingsError('integrity', decision.why);
      this.#requireRestartable();
    }
  }

  async #restart(answer: ServiceAnswer): Promise<void> {
    const total = answer.length ?? knownTotal(this.#held, answer);
    try {
      this.#requireRestartable();
      this.#version = { validator: strongValidator(answer.headers), total, address: answer.address };
      await this.#sink.begin(this.#version);
      if (this.#hashing.isHashed) this.#hash = createHash('sha256');
    } catch (error) {
      answer.discard();
      throw error;
    }
  }

  #requireRestartable(): void {
    if (this.#sink.restartable) return;
    throw new FilingsError('integrity', 'cannot be resumed: it has changed, or the service sends no ranges');
  }

  /** The end must be where the framing and the range said, or the hash of what came is the file's. */
  async #receive(answer: ServiceAnswer): Promise<void> {
    try {
      for (let chunks = await answer.body.take(); chunks; chunks = await answer.body.take()) {
        const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
        this.#requireRoom(size);
        await this.#sink.write(chunks);
        if (this.#hash) for (const chunk of chunks) this.#hash.update(chunk);
        await this.#job.watcher.received(size);
      }
      this.#requireWhole(answer);
    } catch (error) {
      answer.discard();
      if (!(await this.#isWholeAllTheSame(error))) throw error;
    }
  }

  /** A chunked 206 may bring more than its range says. */
  #requireRoom(size: number): void {
    const { bytes, total } = this.#held;
    if (total === undefined || bytes + size <= total) return;
    throw new FilingsError('integrity', `more bytes came than the file has (${total})`);
  }

  #requireWhole({ length, untilClose }: ServiceAnswer): void {
    const { bytes, total } = this.#held;
    if (total !== undefined && bytes !== total) {
      throw new FilingsError('integrity', `truncated: ${bytes} bytes came of ${total}`, { retryable: true });
    }
    if (bytes > 0 || length === 0) return;
    // Without a length, nothing at all can't be told from a connection that was cut.
    throw new FilingsError('integrity', 'empty response without a length', {
      retryable: untilClose,
      fault: 'unproved-end',
    });
  }

  /** A body whose end is in doubt is whole with the length that a range told, or the expected hash. */
  async #isWholeAllTheSame(error: unknown): Promise<boolean> {
    if (!(error instanceof FilingsError && error.fault === 'unproved-end')) return false;
    const { bytes, total } = this.#held;
    const { expected } = this.#hashing;
    return bytes === total || (expected !== undefined && (await this.#sha256()) === expected);
  }

  async #sha256(): Promise<string | undefined> {
    return this.#hash ? this.#hash.copy().digest('hex') : this.#sink.sha256?.();
  }
}

/** The reader has got a part of the file. */
function cutShort(error: unknown): unknown {
  if (!(error instanceof FilingsError) || error.code === 'interrupted' || error.code === 'local_io') return error;
  return error.with({
    code: 'integrity',
    hint: { advice: 'spool' },
  });
}
