import { about, FilingsError } from '../errors.ts';
import type { Answer } from '../http/exchange/messages.ts';
import { type Persistence, persist, type Setback } from '../http/retry/attempts.ts';
import { decide, type Held, rangeRequest, strongValidator, type Validator } from './resume.ts';

/** A file of the service, as something to be asked for, whole or from an offset. */
export interface Remote {
  /** For messages: `primary.htm of 0001234567-24-000001`. */
  readonly what: string;
  open(range: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Answer>;
}

/** Where the bytes go. */
export interface Sink {
  readonly held: Held;
  /** Whether it can begin again from byte 0: a pipe can't once a byte is out. */
  readonly restartable: boolean;
  /** The whole body is about to come. */
  begin(validator: Validator | undefined, total: number | undefined): Promise<void>;
  /** The rest of the body is about to come. */
  append(total: number): void;
  write(chunks: readonly Buffer[]): Promise<void>;
  /** Whether what is held hashes to what the file must hash to; never where that is not known. */
  proves(): Promise<boolean>;
}

export interface Transferred {
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

/** Told of what happens meanwhile. */
export interface Watcher {
  total(bytes: number | undefined, offset: number): void;
  /** What it waits for holds the transfer back. */
  moved(bytes: number): void | Promise<void>;
  setback(setback: Setback): void;
}

/**
 * Moves one remote file into a sink: as many attempts as it takes, each going on
 * where the last one stopped when that is provably the same file. Throws the last
 * failure, or the signal's reason; the sink then holds what it got.
 */
export async function transfer(
  remote: Remote,
  sink: Sink,
  persistence: Persistence,
  signal: AbortSignal,
  watcher: Watcher,
): Promise<Transferred> {
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
  const last = await persist(() => attempt().catch(finalIfStuck(sink)), persistence, signal, {
    // What is only brought again is no progress: a file that always breaks at the same byte must come to an end.
    brought: () => sink.held.bytes - farthest,
    onSetback: (setback) => watcher.setback(setback),
  }).catch((error) => {
    throw signal.aborted ? error : about(remote.what, error);
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

/** Asks for what is missing and prepares the sink; undefined when nothing is missing. */
async function openForSink(
  remote: Remote,
  sink: Sink,
  signal: AbortSignal,
  onOffset: (offset: number) => void,
): Promise<Answer | undefined> {
  const { held } = sink;
  let answer = await remote.open(rangeRequest(held), signal);
  let decision = decide(held, answer);
  if (decision.kind === 'ask-anew') {
    answer.discard();
    if (!sink.restartable) throw new FilingsError('integrity', `${remote.what}: cannot go on: ${decision.why}`);
    answer = await remote.open({}, signal);
    decision = decide({ bytes: 0, validator: undefined, total: undefined }, answer);
  }
  try {
    return await prepare(remote, sink, answer, decision, onOffset);
  } catch (error) {
    answer.discard();
    throw error;
  }
}

async function prepare(
  remote: Remote,
  sink: Sink,
  answer: Answer,
  decision: ReturnType<typeof decide>,
  onOffset: (offset: number) => void,
): Promise<Answer | undefined> {
  switch (decision.kind) {
    case 'append':
      sink.append(decision.total);
      onOffset(sink.held.bytes);
      return answer;
    case 'restart':
      await sink.begin(strongValidator(answer.headers), answer.length);
      onOffset(0);
      return answer;
    case 'complete':
      onOffset(sink.held.bytes);
      answer.discard();
      return undefined;
    default:
      throw new FilingsError('integrity', `${remote.what}: ${decision.why}`);
  }
}

/** Moves the body; its end must be where the framing and the range said, or the hash of what came is the file's. */
async function receive(
  remote: Remote,
  answer: Answer,
  sink: Sink,
  onMoved: (bytes: number) => void | Promise<void>,
): Promise<void> {
  try {
    for (let chunks = await answer.body.take(); chunks; chunks = await answer.body.take()) {
      const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
      requireRoom(remote, sink, size);
      await sink.write(chunks);
      await onMoved(size);
    }
    requireWhole(remote, answer, sink.held);
  } catch (error) {
    answer.discard();
    if (!(await isWholeAllTheSame(error, sink))) throw error;
  }
}

function requireWhole(remote: Remote, answer: Answer, { bytes, total }: Held): void {
  if (total !== undefined && bytes !== total) {
    throw new FilingsError('integrity', `${remote.what}: truncated: ${bytes} bytes came of ${total}`, {
      retryable: true,
    });
  }
  if (bytes > 0 || answer.length === 0) return;
  // Without a length, nothing at all can't be told from a connection that was cut.
  throw new FilingsError('integrity', `${remote.what}: the answer is empty, and tells no length: not a file`, {
    retryable: answer.untilClose,
    fault: 'unproved-end',
  });
}

/** A body whose end is in doubt is whole when it has the length that a range told, or hashes to what the file must. */
async function isWholeAllTheSame(error: unknown, sink: Sink): Promise<boolean> {
  const fault = error instanceof FilingsError ? error.fault : undefined;
  if (fault !== 'unproved-end' && fault !== 'surplus') return false;
  const { bytes, total } = sink.held;
  if (fault === 'unproved-end' && bytes === total) return true;
  return sink.proves();
}

/** Not one byte more than the file has: a chunked 206 may bring more than its range says. */
function requireRoom(remote: Remote, { held: { bytes, total } }: Sink, size: number): void {
  if (total === undefined || bytes + size <= total) return;
  throw new FilingsError('integrity', `${remote.what}: more bytes came than the file has (${total})`, {
    hint: 'the service contradicts itself: tell whoever runs it',
  });
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

function headerOf(answer: Answer | undefined, name: string): string | undefined {
  const value = answer?.headers[name];
  return typeof value === 'string' ? value : undefined;
}
