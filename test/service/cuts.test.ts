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
const FILE = content(3000);
const V1 = { ETag: '"v1"' };
const ENDINGS: readonly Ending[] = ['FIN', 'RST'];

/** Returns the significant positions in a response: their names and the number of bytes before them. */
function cutsOf(framing: Framing): [string, number][] {
  const { headBytes, pieces, bytes } = framed(FILE, framing, V1);
  const cuts: [string, number][] = [
    ['before everything', 0],
    ['in the status line', 7],
    ['after the status line', bytes.indexOf('\r\n') + 2],
    ['within the head', Math.floor(headBytes / 2)],
    ['before the empty line', headBytes - 2],
    ['after the head', headBytes],
    ['after one byte of body', headBytes + 1],
    ['in the middle', headBytes + Math.floor((bytes.length - headBytes) / 3)],
    ['before the last byte', bytes.length - 1],
  ];
  if (framing !== 'chunked') return cuts;
  const next = headBytes + (pieces[0]?.length ?? 0);
  return [
    ...cuts,
    ['in the first chunk size', headBytes + 2],
    ['after the first chunk size', bytes.indexOf('\r\n', headBytes) + 2],
    ['before the CRLF of a chunk', next - 2],
    ['within the CRLF of a chunk', next - 1],
    ['between the chunks', next],
    ['within the next chunk size', next + 1],
    ['before the last chunk', bytes.length - 5],
    ['after the 0', bytes.length - 4],
    ['within the CRLF of the last chunk', bytes.length - 3],
    ['before the terminating CRLF', bytes.length - 2],
  ];
}

/**
 * Returns the required outcome of a cut. Without a length a FIN cannot be distinguished from the end, so the received
 * bytes are accepted as unverified.
 */
function outcomeOf(framing: Framing, ending: Ending, sent: number): 'exit 7' | 'exit 9' | 'unverified' {
  const { headBytes } = framed(FILE, framing, V1);
  if (sent < headBytes) return 'exit 7';
  return framing === 'until-close' && ending === 'FIN' && sent > headBytes ? 'unverified' : 'exit 9';
}

const table = FRAMINGS.flatMap((framing) =>
  cutsOf(framing).flatMap(([where, sent]) =>
    ENDINGS.map((ending) => [framing, where, ending, outcomeOf(framing, ending, sent), sent] as const),
  ),
);

describe('a response that is cut', () => {
  test.each(table)('with framing %s, %s, by %s, gives: %s', async (framing, _, ending, expected, sent) => {
    const { bytes, headBytes } = framed(FILE, framing, V1);
    const cut = bytes.subarray(0, sent);
    const { run } = await runAgainst((socket) => sendAndEnd(socket, cut, ending));
    const outcome = await run.save();
    if (expected === 'unverified') {
      expect(outcome).toMatchObject({ result: 'downloaded', verifiedLength: false });
      expect(await run.read()).toEqual(bytes.subarray(headBytes, sent));
      return;
    }
    expect([outcome.result, `exit ${outcome.error?.exitStatus}`]).toEqual(['failed', expected]);
    expect(await run.names()).not.toContain('primary.htm');

    // The response is cut once and then complete, on disk and in a pipe.
    const { run: next } = await runAgainst(first(cut, whole(FILE), ending), { retries: 1 });
    expect((await next.save()).error).toBeUndefined();
    const { run: piped } = await runAgainst(first(cut, whole(FILE), ending), { retries: 1 });
    const writer = memoryWriter();
    expect((await piped.pipe(writer)).error).toBeUndefined();
    expect([FILE.equals(await next.read()), FILE.equals(writer.bytes())]).toEqual([true, true]);
  });

  // A reset right after the bytes looks like an end, so the reader must look closer.
  test('is assumed if an RST follows the last byte of an until-close body, so there is no file', async () => {
    const { run } = await runAgainst((socket) => {
      socket.write(framed(FILE, 'until-close').bytes, () => socket.resetAndDestroy());
    });
    expect((await run.save()).error).toMatchObject({ exitStatus: 9, retryable: true });
    expect(await run.names()).toEqual([]);
  });

  test.each([
    ['without a validator', {}, 1],
    ['of a file that has changed', V1, 2],
  ])('leaves a pipe %s with its beginning and exit status 9', async (_, fields, requests) => {
    const script = first(framed(FILE, 'length', fields).upTo(1000), whole(content(3000), '"v2"'));
    const { server, run } = await runAgainst(script, { retries: 3 });
    const writer = memoryWriter();
    const outcome = await run.pipe(writer);
    expect(outcome.error).toMatchObject({
      exitStatus: 9,
      hint: 'a part of the file is already in the pipe; -o FILE writes all or nothing',
    });
    expect(writer.bytes().equals(FILE.subarray(0, 1000))).toBe(true);
    expect(server.requests).toHaveLength(requests);
  });
});

// The body of a 206 without a length, ended by closing the connection, can be checked against the total of its range.
test.each(ENDINGS)('the rest of a file until the connection ends by %s is proved by its total', async (ending) => {
  const file = content(1_400_000);
  for (const missing of [0, 1]) {
    const script: Script = (socket, request) => {
      const start = rangeStart(request);
      if (start === undefined) {
        socket.end(framed(file, 'length', V1).bytes.subarray(0, 1_200_000));
        return;
      }
      const fields = { ...V1, 'Content-Range': `bytes ${start}-${file.length - 1}/${file.length}` };
      const rest = file.subarray(start, file.length - missing);
      sendAndEnd(socket, framed(rest, 'until-close', fields, 206).bytes, ending);
    };
    // A reset may overtake bytes in the kernel. One more range request gets them.
    const { run } = await runAgainst(script, { retries: missing === 0 ? 20 : 1 });
    const outcome = await run.save();
    const kinds = (await run.names()).map((name) => name.replace(/.*\./, '')).sort();
    if (missing === 0) {
      expect(outcome).toMatchObject({ result: 'resumed', bytes: file.length, verifiedLength: true });
      expect((await run.read()).equals(file)).toBe(true);
    } else {
      const message = expect.stringMatching(/truncated/);
      expect(outcome.error).toMatchObject({ exitStatus: 9, retryable: true, message });
      expect(kinds).toEqual(['filings-resume']);
    }
  }
});
