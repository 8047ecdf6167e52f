import type { Sleep } from '../abort.ts';
import { errorAbout, type Subject } from '../errors.ts';
import type { Answer } from '../http/request.ts';

/** An error body may drip for ever. */
const ERROR_BODY_MS = 5000;
const LARGEST_ERROR = 1 << 20;

/** A whole body of at most `limit` bytes; throws `integrity` for a larger one, saying how large. */
export async function readAtMost(answer: Answer, limit: number, subject: Subject): Promise<Buffer> {
  const tooLarge = (size: string) => {
    answer.discard();
    return errorAbout(subject, 'integrity', `the answer has ${size} bytes, and ${limit} are the most that is read`);
  };
  if ((answer.length ?? 0) > limit) throw tooLarge(`${answer.length}`);
  const gathered = new Gathered();
  for (let taken = await answer.body.take(); taken; taken = await answer.body.take()) {
    for (const chunk of taken) gathered.add(chunk);
    if (gathered.size > limit) throw tooLarge(`more than ${limit}`);
  }
  return gathered.bytes();
}

/** Bytes side by side, however small the pieces are in which they come. */
class Gathered {
  size = 0;
  #room = Buffer.allocUnsafe(65_536);

  add(piece: Buffer): void {
    if (this.size + piece.length > this.#room.length) {
      const room = Buffer.allocUnsafe(Math.max(this.#room.length * 2, this.size + piece.length));
      this.#room.copy(room, 0, 0, this.size);
      this.#room = room;
    }
    this.size += piece.copy(this.#room, this.size);
  }

  bytes(): Buffer {
    return this.#room.subarray(0, this.size);
  }
}

/** What can be had of an error's body: at most 1 MiB, at most for some seconds; whatever ends it early only shortens it. */
export async function gatherErrorBody(
  answer: Answer,
  sleep: Sleep,
  signal: AbortSignal,
): Promise<{ body: Buffer; truncated: boolean }> {
  const gathered = new Gathered();
  const enough = new AbortController();
  const gather = async () => {
    for (let taken = await answer.body.take(); taken; taken = await answer.body.take()) {
      for (const chunk of taken) gathered.add(chunk);
      if (gathered.size > LARGEST_ERROR) return false;
    }
    return true;
  };
  // An abort ends the body, and with it the wait.
  const timeUp = sleep(ERROR_BODY_MS, enough.signal).then(() => false);
  const whole = await Promise.race([gather(), timeUp]).catch(() => false);
  enough.abort();
  timeUp.catch(() => {});
  if (!whole) answer.discard();
  signal.throwIfAborted();
  return { body: gathered.bytes().subarray(0, LARGEST_ERROR), truncated: !whole };
}
