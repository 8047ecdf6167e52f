import type { Sleep } from '../abort.ts';
import { createAbortController } from '../abort.ts';
import { errorAbout, type Resource } from '../errors.ts';
import type { Answer } from '../http/request.ts';

/** An error body may drip for ever. */
const ERROR_BODY_MS = 5000;
const MAX_ERROR = 1 << 20;

/** Calls `received` with the size of each piece, also of a body that is cut. Throws `integrity` for a larger body. */
export async function readAtMost(
  answer: Answer,
  limit: number,
  resource: Resource,
  received: (bytes: number) => void,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  if ((answer.length ?? 0) <= limit && (await gather(answer, limit, pieces, received))) return Buffer.concat(pieces);
  answer.discard();
  throw errorAbout(resource, 'integrity', `larger than ${limit} bytes, the most that is read`);
}

/** At most for some seconds; whatever ends it early only shortens the body. */
export async function readErrorBytes(answer: Answer, sleep: Sleep, signal: AbortSignal) {
  const pieces: Buffer[] = [];
  const enough = createAbortController();
  sleep(ERROR_BODY_MS, enough.signal).then(answer.discard, () => {});
  const whole = await gather(answer, MAX_ERROR, pieces).catch(() => false);
  enough.abort();
  answer.discard();
  signal.throwIfAborted();
  return { body: Buffer.concat(pieces).subarray(0, MAX_ERROR), truncated: !whole };
}

/** False as soon as it is over the limit. The memory of what is taken is used again. */
async function gather(
  { body }: Answer,
  limit: number,
  pieces: Buffer[],
  received?: (bytes: number) => void,
): Promise<boolean> {
  let size = 0;
  for (let taken = await body.take(); taken; taken = await body.take()) {
    const piece = Buffer.concat(taken);
    pieces.push(piece);
    size += piece.length;
    received?.(piece.length);
    if (size > limit) return false;
  }
  return true;
}
