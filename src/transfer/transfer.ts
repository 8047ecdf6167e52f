import { about, FilingsError, type Subject } from '../errors.ts';
import { type RetryEvent, type RetryPolicy, retry } from '../http/retry.ts';
import type { ServiceAnswer } from '../service/requests.ts';
import { openForSink, receive } from './attempt.ts';
import type { Finished, Sink } from './sinks/sink.ts';

/** A file of the service, as something to be asked for, whole or from an offset. */
export interface Remote {
  readonly subject: Subject;
  open(range: Readonly<Record<string, string>>, signal: AbortSignal): Promise<ServiceAnswer>;
  readonly retry: RetryPolicy;
}

interface Transferred {
  /** The size of the whole file. */
  readonly bytes: number;
  /** What did not have to be moved again after a break, in this run or from an earlier one. */
  readonly saved: number;
  /** What was moved in this run. */
  readonly moved: number;
  readonly etag: string | undefined;
  /** False when only the end of the connection ended the body, and nothing told the file's length. */
  readonly verifiedLength: boolean;
}

/** A file that came whole, and how its sink took it. */
export type Fetched = Transferred & Finished;

/** Told of what happens meanwhile. */
export interface Watcher {
  total(bytes: number | undefined, offset: number): void;
  /** What it waits for holds the transfer back. */
  moved(bytes: number): void | Promise<void>;
  retry(event: RetryEvent): void;
  /** All bytes are here: what follows concerns the disk alone. */
  arrived?(): void;
  /** Something about the file that a person should know. */
  warn?(text: string): void;
  /** It has failed, and so many bytes are left for another run to go on with. */
  kept(bytes: number): void;
}

/**
 * Fetches one remote file into any sink, which is finished then or, when it throws, abandoned. Throws the last
 * failure, what the sink throws, the signal's reason.
 */
export async function fetchInto(remote: Remote, sink: Sink, signal: AbortSignal, watcher: Watcher): Promise<Fetched> {
  try {
    const transferred = await transfer(remote, sink, signal, watcher);
    watcher.arrived?.();
    return { ...transferred, ...(await sink.finish()) };
  } catch (error) {
    const kept = await sink.abandon(error);
    if (kept > 0) watcher.kept(kept);
    if (signal.aborted) throw error;
    const told = about(remote.subject, error);
    throw sink.restartable ? told : cutShort(told);
  }
}

/** As many attempts as it takes, each going on where the last one stopped when that is provably the same file. */
async function transfer(remote: Remote, sink: Sink, signal: AbortSignal, watcher: Watcher): Promise<Transferred> {
  let farthest = 0;
  let moved = 0;
  let saved = 0;
  const attempt = async () => {
    farthest = Math.max(farthest, sink.held.bytes);
    const answer = await openForSink(remote, sink, signal, (offset) => {
      saved = offset;
      watcher.total(sink.held.total, offset);
    });
    if (answer) {
      await receive(remote, answer, sink, (bytes) => {
        moved += bytes;
        return watcher.moved(bytes);
      });
    }
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
    saved,
    moved,
    etag: headerOf(last, 'etag') ?? (validator?.kind === 'etag' ? validator.value : undefined),
    verifiedLength: !last?.untilClose || sink.held.total !== undefined,
  };
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
