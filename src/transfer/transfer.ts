import { about, errorAbout, FilingsError, type Subject } from '../errors.ts';
import { type RetryEvent, type RetryPolicy, retry } from '../http/retry.ts';
import type { ServiceAnswer } from '../service/requests.ts';
import type { Placement } from './part/commit.ts';
import { type Proof, requireHash } from './proof.ts';
import { decide, type Held, knownTotal, rangeRequest, strongValidator } from './resume.ts';
import type { Sink } from './sinks/sink.ts';

/** A file of the service, as something to be asked for, whole or from an offset. */
export interface Remote {
  readonly subject: Subject;
  open(range: Readonly<Record<string, string>>, signal: AbortSignal): Promise<ServiceAnswer>;
  readonly retry: RetryPolicy;
}

interface Transferred {
  /** The size of the whole file. */
  readonly bytes: number;
  readonly resumedBytes: number;
  readonly etag: string | undefined;
  /** False when only the end of the connection ended the body, and nothing told the file's length. */
  readonly verifiedLength: boolean;
}

/** A file that came whole, its SHA-256 where it was asked for, and how its sink took it. */
export type Fetched = Transferred & { readonly sha256: string | undefined; readonly placed: Placement };

/** Told of what happens meanwhile. */
export interface Watcher {
  total(bytes: number | undefined, offset: number): void;
  /** So many bytes of the body came; what it waits for holds the transfer back. */
  received(bytes: number): void | Promise<void>;
  retry(event: RetryEvent): void;
  /** All bytes are here: what follows concerns the disk alone. */
  arrived?(): void;
  /** Something about the file that a person should know. */
  warn?(text: string): void;
  /** It has failed, and so many bytes are left for another run to resume. */
  resumable(bytes: number): void;
}

/**
 * Fetches one remote file into any sink, which is finished then or, when it throws, abandoned. Throws the last
 * failure, what the sink throws, the signal's reason.
 */
export async function fetchInto(
  remote: Remote,
  sink: Sink,
  proof: Proof,
  signal: AbortSignal,
  watcher: Watcher,
): Promise<Fetched> {
  try {
    const transferred = await transfer(remote, sink, proof, signal, watcher);
    watcher.arrived?.();
    const sha256 = proof.isHashed ? await sink.sha256() : undefined;
    if (sha256 !== undefined) requireHash(sha256, proof);
    return { ...transferred, sha256, placed: await sink.finish() };
  } catch (error) {
    const kept = await sink.abandon(error);
    if (kept > 0) watcher.resumable(kept);
    if (signal.aborted) throw error;
    const told = about(remote.subject, error);
    throw sink.restartable ? told : cutShort(told);
  }
}

/** As many attempts as it takes, each continuing where the last one stopped when that is provably the same file. */
async function transfer(
  remote: Remote,
  sink: Sink,
  proof: Proof,
  signal: AbortSignal,
  watcher: Watcher,
): Promise<Transferred> {
  let farthest = 0;
  let resumedBytes = 0;
  const attempt = async () => {
    farthest = Math.max(farthest, sink.held.bytes);
    const answer = await openForSink(remote, sink, signal);
    resumedBytes = sink.held.bytes;
    watcher.total(sink.held.total, resumedBytes);
    if (answer) await receive(remote, answer, sink, proof, watcher);
    return answer;
  };
  const last = await retry(() => attempt().catch(finalIfStuck(sink)), remote.retry, signal, {
    // What is only brought again is no progress: a file that always breaks at the same byte must come to an end.
    progress: () => sink.held.bytes - farthest,
    onRetry: (event) => watcher.retry(event),
  });
  const { validator, bytes } = sink.held;
  return {
    bytes,
    resumedBytes,
    etag: headerOf(last, 'etag') ?? (validator?.kind === 'etag' ? validator.value : undefined),
    verifiedLength: !last?.untilClose || sink.held.total !== undefined,
  };
}

/** Asks for what is missing and prepares the sink; undefined when nothing is missing. Throws what stands in the way. */
async function openForSink(remote: Remote, sink: Sink, signal: AbortSignal): Promise<ServiceAnswer | undefined> {
  const { held } = sink;
  let answer = await remote.open(rangeRequest(held), signal);
  let decision = decide(held, answer);
  if (decision.kind === 'ask-anew') {
    answer.discard();
    if (!sink.restartable) throw errorAbout(remote.subject, 'integrity', `cannot go on: ${decision.why}`);
    answer = await remote.open({}, signal);
    decision = decide({ ...held, bytes: 0 }, answer);
  }
  try {
    switch (decision.kind) {
      case 'append':
        sink.append(decision.total);
        return answer;
      case 'restart': {
        const length = answer.length ?? knownTotal(held, answer);
        await sink.begin({ validator: strongValidator(answer.headers), total: length, address: answer.address });
        return answer;
      }
      case 'complete':
        answer.discard();
        return undefined;
      default:
        throw errorAbout(remote.subject, 'integrity', decision.why);
    }
  } catch (error) {
    answer.discard();
    throw error;
  }
}

/** Moves the body; its end must be where the framing and the range said, or the hash of what came is the file's. */
async function receive(
  remote: Remote,
  answer: ServiceAnswer,
  sink: Sink,
  proof: Proof,
  watcher: Watcher,
): Promise<void> {
  try {
    for (let chunks = await answer.body.take(); chunks; chunks = await answer.body.take()) {
      const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
      requireRoom(remote, sink, size);
      await sink.write(chunks);
      await watcher.received(size);
    }
    requireWhole(remote, answer, sink.held);
  } catch (error) {
    answer.discard();
    if (!(await isWholeAllTheSame(error, sink, proof))) throw error;
  }
}

/** Not one byte more than the file has: a chunked 206 may bring more than its range says. */
function requireRoom(remote: Remote, { held: { bytes, total } }: Sink, size: number): void {
  if (total === undefined || bytes + size <= total) return;
  throw errorAbout(remote.subject, 'integrity', `more bytes came than the file has (${total})`, {
    hint: 'the service contradicts itself: tell whoever runs it',
  });
}

function requireWhole(remote: Remote, answer: ServiceAnswer, { bytes, total }: Held): void {
  if (total !== undefined && bytes !== total) {
    throw errorAbout(remote.subject, 'integrity', `truncated: ${bytes} bytes came of ${total}`, { retryable: true });
  }
  if (bytes > 0 || answer.length === 0) return;
  // Without a length, nothing at all can't be told from a connection that was cut.
  throw errorAbout(remote.subject, 'integrity', 'the answer is empty, and tells no length: not a file', {
    retryable: answer.untilClose,
    fault: 'unproved-end',
  });
}

/** A body whose end is in doubt is whole when it has the length that a range told, or hashes to what the file must. */
async function isWholeAllTheSame(error: unknown, sink: Sink, { expected }: Proof): Promise<boolean> {
  if (!(error instanceof FilingsError && error.fault === 'unproved-end')) return false;
  const { bytes, total } = sink.held;
  return bytes === total || (expected !== undefined && (await sink.sha256()) === expected);
}

/** A pipe that can't be gone on with has failed for good, whatever the reason: what is out is out. */
function finalIfStuck(sink: Sink): (error: unknown) => never {
  return (error) => {
    const stuck = !sink.restartable && sink.held.validator === undefined;
    if (!stuck || !(error instanceof FilingsError) || !error.retryable) throw error;
    throw error.reworded(error.message, {
      code: 'integrity',
      retryable: false,
      hint: 'part of it was written already, and without a strong validator it cannot be continued; --spool writes all or nothing',
    });
  };
}

/** What is out is out: whatever ended the transfer, the reader has got a part of the file. */
function cutShort(error: unknown): unknown {
  if (!(error instanceof FilingsError) || error.code === 'interrupted' || error.code === 'local_io') return error;
  if (error.code === 'integrity') return error;
  return error.reworded(error.message, {
    code: 'integrity',
    hint: 'part of it was written already; --spool writes all or nothing',
  });
}

function headerOf(answer: ServiceAnswer | undefined, name: string): string | undefined {
  const value = answer?.headers[name];
  return typeof value === 'string' ? value : undefined;
}
