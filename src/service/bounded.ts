import { FilingsError } from '../errors.ts';
import type { Answer } from '../http/messages.ts';
import { sleep } from '../sleep.ts';

/** An error body may drip for ever. */
const ERROR_BODY_MS = 5000;
const LARGEST_ERROR = 1 << 20;

/** A whole body of at most `limit` bytes; throws `integrity` for a larger one. */
export async function readAtMost(answer: Answer, limit: number, what: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for (let taken = await answer.body.take(); taken; taken = await answer.body.take()) {
    for (const chunk of taken) size += chunk.length;
    chunks.push(Buffer.concat(taken));
    if (size <= limit) continue;
    answer.discard();
    throw new FilingsError('integrity', `${what}: the answer is larger than ${limit} bytes`);
  }
  return Buffer.concat(chunks);
}

/** What can be had of an error's body: at most 1 MiB, at most for some seconds; whatever ends it early only shortens it. */
export async function gatherErrorBody(
  answer: Answer,
  signal: AbortSignal,
): Promise<{ body: Buffer; truncated: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  const enough = new AbortController();
  const gather = async () => {
    for (let taken = await answer.body.take(); taken; taken = await answer.body.take()) {
      for (const chunk of taken) size += chunk.length;
      chunks.push(Buffer.concat(taken));
      if (size > LARGEST_ERROR) return false;
    }
    return true;
  };
  // An abort ends the body, and with it the wait.
  const timeUp = sleep(ERROR_BODY_MS, enough.signal).then(() => false);
  // An error's body with surplus bytes behind it has still said all it had to say.
  const whole = await Promise.race([gather(), timeUp]).catch((error) => error.fault !== undefined);
  enough.abort();
  timeUp.catch(() => {});
  if (!whole) answer.discard();
  signal.throwIfAborted();
  return { body: Buffer.concat(chunks).subarray(0, LARGEST_ERROR), truncated: !whole };
}
