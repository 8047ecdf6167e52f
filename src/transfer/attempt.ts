import { errorAbout, FilingsError } from '../errors.ts';
import type { ServiceAnswer } from '../service/requests.ts';
import { decide, type Held, knownTotal, rangeRequest, strongValidator } from './resume.ts';
import type { Sink } from './sinks/sink.ts';
import type { Remote } from './transfer.ts';

/** Asks for what is missing and prepares the sink; undefined when nothing is missing. Throws what stands in the way. */
export async function openForSink(
  remote: Remote,
  sink: Sink,
  signal: AbortSignal,
  onOffset: (offset: number) => void,
): Promise<ServiceAnswer | undefined> {
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
    return await prepare(remote, sink, answer, decision, onOffset);
  } catch (error) {
    answer.discard();
    throw error;
  }
}

async function prepare(
  remote: Remote,
  sink: Sink,
  answer: ServiceAnswer,
  decision: ReturnType<typeof decide>,
  onOffset: (offset: number) => void,
): Promise<ServiceAnswer | undefined> {
  switch (decision.kind) {
    case 'append':
      sink.append(decision.total);
      onOffset(sink.held.bytes);
      return answer;
    case 'restart':
      await sink.begin(strongValidator(answer.headers), answer.length ?? knownTotal(sink.held, answer), answer.address);
      onOffset(0);
      return answer;
    case 'complete':
      onOffset(sink.held.bytes);
      answer.discard();
      return undefined;
    default:
      throw errorAbout(remote.subject, 'integrity', decision.why);
  }
}

/** Moves the body; its end must be where the framing and the range said, or the hash of what came is the file's. */
export async function receive(
  remote: Remote,
  answer: ServiceAnswer,
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
async function isWholeAllTheSame(error: unknown, sink: Sink): Promise<boolean> {
  if (!(error instanceof FilingsError && error.fault === 'unproved-end')) return false;
  const { bytes, total } = sink.held;
  return bytes === total || sink.proves();
}

/** Not one byte more than the file has: a chunked 206 may bring more than its range says. */
function requireRoom(remote: Remote, { held: { bytes, total } }: Sink, size: number): void {
  if (total === undefined || bytes + size <= total) return;
  throw errorAbout(remote.subject, 'integrity', `more bytes came than the file has (${total})`, {
    hint: 'the service contradicts itself: tell whoever runs it',
  });
}
