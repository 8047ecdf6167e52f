import type { Hash } from 'node:crypto';
import { about, FilingsError, type Subject } from '../errors.ts';
import { type RetryEvent, type RetryPolicy, retry } from '../http/retry.ts';
import type { ServiceAnswer } from '../service/requests.ts';
import type { Placement } from './part/commit.ts';
import {
  decide,
  type Held,
  knownTotal,
  NO_VERSION,
  rangeRequest,
  single,
  strongValidator,
  type Version,
} from './resume.ts';

/** A file of the service, as something to be asked for, whole or from an offset. */
export interface Remote {
  readonly subject: Subject;
  open(range: Readonly<Record<string, string>>, signal: AbortSignal): Promise<ServiceAnswer>;
  readonly retry: RetryPolicy;
}

/** Where the bytes of one file go. It ends itself: by `finish` when all have come, or else by `abandon`. */
export interface Sink {
  /** How many it has, those that an earlier run has left among them. */
  readonly bytes: number;
  /** What those of an earlier run are of. */
  readonly version?: Version | undefined;
  /** Whether it can begin again from byte 0: a pipe can't once a byte is out. */
  readonly restartable: boolean;
  /** The whole body is about to come, of this version. */
  begin(version: Version): Promise<void>;
  write(chunks: readonly Buffer[]): Promise<void>;
  /** The SHA-256 of what it has, where an earlier run has left some of it: a hash can't be saved. */
  sha256?(): Promise<string>;
  /**
   * All is there and proved: gives it to whom it is for. Throws `local_io`, `interrupted`, the signal's reason: `abandon`
   * comes then all the same.
   */
  finish(): Promise<Placement>;
  /** The file did not come, because of `error`: leaves what another run can resume, and gives how many bytes; never throws. */
  abandon(error: unknown): Promise<number>;
}

/** Told of what happens meanwhile. */
export interface Watcher {
  total(bytes: number | undefined, offset: number): void;
  /** So many bytes of the body came; what it waits for holds the transfer back. */
  received(bytes: number): void | Promise<void>;
  retry(event: RetryEvent): void;
  /** Something about the file that a person should know. */
  warn?(text: string): void;
  /** It has failed, and so many bytes are left for another run to resume. */
  resumable(bytes: number): void;
}

/** What one file is transferred with. */
export interface Job {
  readonly remote: Remote;
  readonly sink: Sink;
  /** The SHA-256 that the file must have, in lower-case hexadecimal digits. */
  readonly expected: string | undefined;
  /** Whether it is hashed, as it is where one is expected. */
  readonly hashed: boolean;
  readonly signal: AbortSignal;
  readonly watcher: Watcher;
}

/** A file that came whole, and how its sink took it. */
export interface Fetched {
  /** The size of the whole file. */
  readonly bytes: number;
  readonly resumedBytes: number;
  readonly etag: string | undefined;
  readonly verifiedLength: boolean;
  readonly sha256: string | undefined;
  readonly placed: Placement;
}

/**
 * Fetches one remote file into any sink, which is finished then or, when it throws, abandoned. Throws the last
 * failure, what the sink throws, the signal's reason.
 */
export async function fetchInto(job: Job): Promise<Fetched> {
  const { remote, sink, signal, watcher } = job;
  try {
    return await new Transfer(job).run();
  } catch (error) {
    const left = await sink.abandon(error);
    if (left > 0) watcher.resumable(left);
    if (signal.aborted) throw error;
    const told = about(remote.subject, error);
    throw sink.restartable ? told : cutShort(told);
  }
}

/** As many attempts as it takes, each continuing where the last one stopped when that is provably the same file. */
class Transfer {
  readonly #job: Job;
  #version: Version;
  /** Of all bytes; undefined where nobody asks for it, or an earlier run has written some of them. */
  #hash: Hash | undefined;
  #farthest = 0;
  #resumedBytes = 0;

  constructor(job: Job) {
    this.#job = job;
    this.#version = job.sink.version ?? NO_VERSION;
  }

  async run(): Promise<Fetched> {
    const { remote, sink, expected, hashed, signal, watcher } = this.#job;
    const last = await retry(() => this.#attempt(), remote.retry, signal, {
      // What is only brought again is no progress: a file that always breaks at the same byte must come to an end.
      progress: () => sink.bytes - this.#farthest,
      onRetry: (event) => watcher.retry(event),
    });
    const sha256 = hashed ? await this.#sha256() : undefined;
    if (sha256 !== undefined) requireHash(sha256, expected);
    const { bytes, validator, total } = this.#held;
    return {
      bytes,
      resumedBytes: this.#resumedBytes,
      etag: single(last?.headers.etag) ?? (validator?.kind === 'etag' ? validator.value : undefined),
      verifiedLength: !last?.untilClose || total !== undefined,
      sha256,
      placed: await sink.finish(),
    };
  }

  get #held(): Held {
    return { bytes: this.#job.sink.bytes, ...this.#version };
  }

  /** Gives the answer, where one was needed. */
  async #attempt(): Promise<ServiceAnswer | undefined> {
    const { sink, watcher } = this.#job;
    this.#farthest = Math.max(this.#farthest, sink.bytes);
    try {
      const answer = await this.#open();
      this.#resumedBytes = sink.bytes;
      watcher.total(this.#version.total, sink.bytes);
      if (answer) await this.#receive(answer);
      return answer;
    } catch (error) {
      // A pipe that can't be resumed has failed for good, whatever the reason.
      const isStuck = !sink.restartable && this.#version.validator === undefined;
      throw isStuck && error instanceof FilingsError ? error.reworded(error.message, { retryable: false }) : error;
    }
  }

  /** Asks for what is missing and prepares the sink; undefined when nothing is missing. Throws what stands in the way. */
  async #open(): Promise<ServiceAnswer | undefined> {
    const { remote, signal } = this.#job;
    for (let held = this.#held; ; held = { ...held, bytes: 0 }) {
      const answer = await remote.open(rangeRequest(held), signal);
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
    const { sink, hashed } = this.#job;
    const total = answer.length ?? knownTotal(this.#held, answer);
    try {
      this.#requireRestartable();
      this.#version = { validator: strongValidator(answer.headers), total, address: answer.address };
      await sink.begin(this.#version);
      if (hashed) this.#hash = (await import('node:crypto')).createHash('sha256');
    } catch (error) {
      answer.discard();
      throw error;
    }
  }

  /** Moves the body; its end must be where the framing and the range said, or the hash of what came is the file's. */
  async #receive(answer: ServiceAnswer): Promise<void> {
    const { sink, watcher } = this.#job;
    try {
      for (let chunks = await answer.body.take(); chunks; chunks = await answer.body.take()) {
        const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
        this.#requireRoom(size);
        await sink.write(chunks);
        if (this.#hash) for (const chunk of chunks) this.#hash.update(chunk);
        await watcher.received(size);
      }
      this.#requireWhole(answer);
    } catch (error) {
      answer.discard();
      if (!(await this.#isWholeAllTheSame(error))) throw error;
    }
  }

  #requireRestartable(): void {
    if (this.#job.sink.restartable) return;
    throw new FilingsError('integrity', 'cannot be resumed: it has changed, or the service sends no ranges');
  }

  /** Not one byte more than the file has: a chunked 206 may bring more than its range says. */
  #requireRoom(size: number): void {
    const { bytes, total } = this.#held;
    if (total !== undefined && bytes + size > total) {
      throw new FilingsError('integrity', `more bytes came than the file has (${total})`);
    }
  }

  #requireWhole(answer: ServiceAnswer): void {
    const { bytes, total } = this.#held;
    if (total !== undefined && bytes !== total) {
      throw new FilingsError('integrity', `truncated: ${bytes} bytes came of ${total}`, { retryable: true });
    }
    if (bytes > 0 || answer.length === 0) return;
    // Without a length, nothing at all can't be told from a connection that was cut.
    throw new FilingsError('integrity', 'the answer is empty, and tells no length: not a file', {
      retryable: answer.untilClose,
      fault: 'unproved-end',
    });
  }

  /** A body whose end is in doubt is whole when it has the length that a range told, or hashes to what the file must. */
  async #isWholeAllTheSame(error: unknown): Promise<boolean> {
    if (!(error instanceof FilingsError && error.fault === 'unproved-end')) return false;
    const { bytes, total } = this.#held;
    const { expected } = this.#job;
    return bytes === total || (expected !== undefined && (await this.#sha256()) === expected);
  }

  async #sha256(): Promise<string | undefined> {
    return this.#hash ? this.#hash.copy().digest('hex') : this.#job.sink.sha256?.();
  }
}

/** Throws `integrity` for another hash than a file must have; `path` names one that did not come from the service just now. */
export function requireHash(found: string, expected: string = found, path?: string): void {
  if (found === expected) return;
  const why = `wrong hash: its SHA-256 is ${found}, not ${expected}`;
  throw new FilingsError('integrity', path === undefined ? why : `${path}: ${why}`, {
    hint: 'it is not the file that --sha256 means: check both',
  });
}

/** What is out is out: whatever ended the transfer, the reader has got a part of the file. */
function cutShort(error: unknown): unknown {
  if (!(error instanceof FilingsError) || error.code === 'interrupted' || error.code === 'local_io') return error;
  return error.reworded(error.message, {
    code: 'integrity',
    hint: 'part of it was written already; --spool writes all or nothing',
  });
}
