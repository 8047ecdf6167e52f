import { describe, expect, test } from 'vitest';
import {
  type Ending,
  FRAMINGS,
  type Framing,
  first,
  framed,
  rangeStart,
  sendAndEnd,
  whole,
} from '../servers/answers.ts';
import type { Script } from '../servers/scripted.ts';
import { content, memoryWriter, runAgainst } from './transfer-fixture.ts';

// A transfer never lies: wherever a response is cut, the result is the right bytes or no file.
const V1 = { ETag: '"v1"' };
const ENDINGS: readonly Ending[] = ['FIN', 'RST'];
/** So short that the body can be cut after each of its bytes. */
const SHORT = content(6);

/**
 * Returns the required outcome of a cut. Without a length a FIN cannot be distinguished from the end, so the received
 * bytes are accepted as unverified.
 */
function outcomeOf(framing: Framing, ending: Ending, bodyBytes: number): 'exit 7' | 'exit 9' | 'unverified' {
  if (bodyBytes < 0) return 'exit 7';
  return framing === 'until-close' && ending === 'FIN' && bodyBytes > 0 ? 'unverified' : 'exit 9';
}

const table = FRAMINGS.flatMap((framing) => {
  const { headBytes, bytes } = framed(SHORT, framing, V1);
  const inHead = [0, 7, bytes.indexOf('\r\n') + 2, headBytes - 2];
  const inBody = Array.from(bytes.subarray(headBytes).keys(), (at) => headBytes + at);
  return [...inHead, ...inBody].flatMap((sent) =>
    ENDINGS.map((ending) => ({ framing, ending, sent, expected: outcomeOf(framing, ending, sent - headBytes) })),
  );
});

describe('a response that is cut', () => {
  test.each(table)('after $sent bytes with framing $framing by $ending: $expected', async (row) => {
    const { framing, ending, sent, expected } = row;
    const { bytes, headBytes } = framed(SHORT, framing, V1);
    const cut = bytes.subarray(0, sent);
    const { run } = await runAgainst((socket) => sendAndEnd(socket, cut, ending));
    const outcome = await run.save();
    if (expected === 'unverified') {
      expect(outcome).toMatchObject({ result: 'downloaded', verifiedLength: false });
      expect(await run.read()).toEqual(bytes.subarray(headBytes, sent));
      return;
    }
    expect([outcome.result, `exit ${outcome.error?.exitStatus}`]).toEqual(['failed', expected]);
    expect(await run.names()).toEqual([]);
    // A request after an end of the connection that counts as the end of the body is tested in connect.test.ts.
    if (framing === 'until-close' && ending === 'FIN') return;
    // The response is cut once and then complete, on disk and in a pipe.
    const { run: next } = await runAgainst(first(cut, whole(SHORT), ending), { retries: 1 });
    expect((await next.save()).error).toBeUndefined();
    const { run: piped } = await runAgainst(first(cut, whole(SHORT), ending), { retries: 1 });
    const writer = memoryWriter();
    expect((await piped.pipe(writer)).error).toBeUndefined();
    expect([await next.read(), writer.bytes()]).toEqual([SHORT, SHORT]);
  });

  test.each`
    file                        | fields | requests
    ${'without a validator'}    | ${{}}  | ${1}
    ${'that has changed since'} | ${V1}  | ${2}
  `('leaves a pipe of a file $file with its beginning and exit status 9', async ({ fields, requests }) => {
    const file = content(3000);
    const script = first(framed(file, 'length', fields).upTo(1000), whole(content(3000), '"v2"'));
    const { server, run } = await runAgainst(script, { retries: 3 });
    const writer = memoryWriter();
    const outcome = await run.pipe(writer);
    expect(outcome.error).toMatchObject({
      exitStatus: 9,
      hint: expect.stringContaining('-o FILE writes all or nothing'),
    });
    expect([writer.bytes().equals(file.subarray(0, 1000)), server.requests.length]).toEqual([true, requests]);
  });
});

// The body of a 206 without a length, ended by closing the connection, can be checked against the total of its range.
test.each(ENDINGS)('the rest of a file until the connection ends by %s is proved by its total', async (ending) => {
  const file = content(1_400_000);
  const cutShortOf =
    (missing: number): Script =>
    (socket, request) => {
      const start = rangeStart(request);
      if (start === undefined) return void socket.end(framed(file, 'length', V1).upTo(1_200_000));
      const fields = { ...V1, 'Content-Range': `bytes ${start}-${file.length - 1}/${file.length}` };
      const rest = file.subarray(start, file.length - missing);
      sendAndEnd(socket, framed(rest, 'until-close', fields, 206).bytes, ending);
    };
  // A reset may overtake bytes in the kernel. One more range request gets them.
  const { run } = await runAgainst(cutShortOf(0), { retries: 20 });
  expect(await run.save()).toMatchObject({ result: 'resumed', bytes: file.length, verifiedLength: true });
  expect((await run.read()).equals(file)).toBe(true);
  const { run: short } = await runAgainst(cutShortOf(1), { retries: 1 });
  expect((await short.save()).error).toMatchObject({ exitStatus: 9, retryable: true });
  expect(await short.names()).toEqual([expect.stringMatching(/filings-resume$/)]);
});
