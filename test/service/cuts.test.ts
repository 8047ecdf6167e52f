import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Ending, FRAMINGS, type Framing, framed, rangeStart, sendAndEnd, sendFile } from '../servers/answers.ts';
import { startScripted } from '../servers/scripted.ts';
import { content, memoryWriter, startRun } from './transfer-fixture.ts';

// Proof 1 of a transfer that never lies: wherever an answer is cut, there are the right bytes or no file.
const FILE = content(3000);
const ENDINGS: readonly Ending[] = ['FIN', 'RST'];

/** Every telling place of an answer: name, and how many of its bytes are sent. */
function cutsOf(framing: Framing): [string, number][] {
  const { headBytes, pieces, bytes } = framed(FILE, framing);
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
  const first = headBytes + (pieces[0]?.length ?? 0);
  return [
    ...cuts,
    ['in the first chunk size', headBytes + 2],
    ['after the first chunk size', bytes.indexOf('\r\n', headBytes) + 2],
    ['before the CRLF of a chunk', first - 2],
    ['within the CRLF of a chunk', first - 1],
    ['between the chunks', first],
    ['within the next chunk size', first + 1],
    ['before the last chunk', bytes.length - 5],
    ['after the 0', bytes.length - 4],
    ['within the CRLF of the last chunk', bytes.length - 3],
    ['before the terminating CRLF', bytes.length - 2],
  ];
}

/** What must come of a cut: without a length a FIN can't be told from the end, so what came is taken, and said to be unverified. */
function outcomeOf(framing: Framing, ending: Ending, sent: number): 'exit 7' | 'exit 9' | 'taken' {
  const { headBytes } = framed(FILE, framing);
  if (sent < headBytes) return 'exit 7';
  return framing === 'until-close' && ending === 'FIN' && sent > headBytes ? 'taken' : 'exit 9';
}

const table = FRAMINGS.flatMap((framing) =>
  cutsOf(framing).flatMap(([where, sent]) =>
    ENDINGS.map((ending) => [framing, where, ending, outcomeOf(framing, ending, sent), sent] as const),
  ),
);

describe('cut once and for all', () => {
  test.each(table)('%s, %s, by %s: %s', async (framing, _, ending, must, sent) => {
    const { bytes, headBytes } = framed(FILE, framing);
    const server = await startScripted((socket) => sendAndEnd(socket, bytes.subarray(0, sent), ending));
    onTestFinished(() => server.close());
    const run = await startRun(server.url);
    const outcome = await run.save();
    if (must === 'taken') {
      expect(outcome).toMatchObject({ result: 'downloaded', verifiedLength: false });
      expect(await readFile(`${run.directory}/primary.htm`)).toEqual(bytes.subarray(headBytes, sent));
      return;
    }
    expect([outcome.result, `exit ${outcome.error?.exitStatus}`]).toEqual(['failed', must]);
    expect(await run.names()).toEqual([]);
  });
});

describe('whole', () => {
  test.each(FRAMINGS)('%s, ended by FIN right behind the last byte', async (framing) => {
    const server = await startScripted((socket) => sendAndEnd(socket, framed(FILE, framing).bytes, 'FIN'));
    const run = await startRun(server.url);
    const outcome = await run.save();
    expect(outcome).toMatchObject({ result: 'downloaded', verifiedLength: framing !== 'until-close' });
    expect(await readFile(`${run.directory}/primary.htm`)).toEqual(FILE);
    expect(await run.names()).toEqual(['primary.htm']);
    await server.close();
  });

  // Right behind the bytes a reset looks like an end: the reader must look closer.
  test.each([0, 5])('until-close, ended by RST after %i ms: not to be told from a cut, so no file', async (ms) => {
    const server = await startScripted((socket) => {
      socket.write(framed(FILE, 'until-close').bytes, () => {
        if (ms === 0) socket.resetAndDestroy();
        else setTimeout(() => socket.resetAndDestroy(), ms);
      });
    });
    const run = await startRun(server.url);
    expect((await run.save()).error).toMatchObject({ exitStatus: 9, retryable: true });
    expect(await run.names()).toEqual([]);
    await server.close();
  });
});

// The wait between tries is a second: all at once, they wait together.
describe('cut once, then answered well', () => {
  // What is taken for the end asks for nothing more.
  const told = table.filter(([, , , must]) => must !== 'taken');

  test('every cut ends in the right bytes, on disk and in a pipe', async () => {
    const etag = '"v1"';
    await Promise.all(
      told.map(async ([framing, where, ending, , sent]) => {
        const { bytes } = framed(FILE, framing, { ETag: etag });
        // The head is longer by the ETag.
        const cut = sent <= 20 ? sent : Math.max(0, bytes.length - (framed(FILE, framing).bytes.length - sent));
        const first = new Set<string>();
        const server = await startScripted((socket, request) => {
          const whose = request.headers.authorization ?? '';
          if (first.has(whose)) sendFile(socket, request, FILE, etag);
          else {
            first.add(whose);
            sendAndEnd(socket, bytes.subarray(0, cut), ending);
          }
        });
        try {
          const run = await startRun(server.url, { retries: 2 });
          const saved = await run.save();
          expect([where, ending, saved.error, saved.bytes]).toEqual([where, ending, undefined, FILE.length]);
          expect(await readFile(`${run.directory}/primary.htm`)).toEqual(FILE);
          expect(await run.names()).toEqual(['primary.htm']);
          first.clear();
          const writer = memoryWriter();
          const piped = await (await startRun(server.url, { retries: 2 })).pipe(writer);
          expect([where, ending, piped.error]).toEqual([where, ending, undefined]);
          expect(writer.bytes().equals(FILE)).toBe(true);
        } finally {
          await server.close();
        }
      }),
    );
  });

  test('without a validator a pipe ends with 9 once a byte is out, and holds only a beginning', async () => {
    const { bytes, headBytes } = framed(FILE, 'length');
    const server = await startScripted((socket, { index }) => {
      sendAndEnd(socket, index === 0 ? bytes.subarray(0, headBytes + 1000) : bytes, 'FIN');
    });
    const writer = memoryWriter();
    const outcome = await (await startRun(server.url, { retries: 3 })).pipe(writer);
    expect(outcome.error).toMatchObject({ exitStatus: 9, hint: expect.stringContaining('--spool') });
    expect(writer.bytes().equals(FILE.subarray(0, 1000))).toBe(true);
    expect(server.requests).toHaveLength(1);
    await server.close();
  });
});

// A 206 that only the connection ends has the total of its range to be checked against.
describe('the rest of a file, until the connection ends', () => {
  const etag = { ETag: '"v1"' };
  const file = content(1_400_000);
  const broken = framed(file, 'length', etag).bytes.subarray(0, 1_200_000);
  /** The first answer breaks off; then ranges are answered without a length, ended so many bytes before the file's end. */
  const against = async (ending: Ending, missing: number) => {
    const server = await startScripted((socket, request) => {
      const start = rangeStart(request);
      if (start === undefined) {
        socket.end(broken);
        return;
      }
      const fields = { ...etag, 'Content-Range': `bytes ${start}-${file.length - 1}/${file.length}` };
      const rest = file.subarray(start, file.length - missing);
      sendAndEnd(socket, framed(rest, 'until-close', fields, 206).bytes, ending);
    });
    onTestFinished(() => server.close());
    return { server, run: await startRun(server.url, { retries: 1 }) };
  };

  test.each(ENDINGS)('whole, by %s: the file, its length verified', async (ending) => {
    const { run } = await against(ending, 0);
    expect(await run.save()).toMatchObject({ result: 'resumed', bytes: file.length, verifiedLength: true });
    expect((await readFile(`${run.directory}/primary.htm`)).equals(file)).toBe(true);
  });

  test.each(ENDINGS)('cut, by %s: exit 9, and what came is kept for the next run', async (ending) => {
    const { server, run } = await against(ending, 1);
    expect((await run.save()).error).toMatchObject({
      exitStatus: 9,
      retryable: true,
      message: expect.stringMatching(/truncated/),
    });
    expect(server.requests).toHaveLength(2);
    expect((await run.names()).map((name) => name.replace(/.*\./, '')).sort()).toEqual(['part', 'resume']);
  });
});

describe('closed before there is anything to answer', () => {
  test.each<Ending>(['FIN', 'RST'])('by %s as the connection is made', async (ending) => {
    const server = createServer((socket) => {
      socket.on('error', () => {}).resume();
      if (ending === 'FIN') socket.end();
      else socket.resetAndDestroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    for (let round = 0; round < 20; round += 1) {
      const run = await startRun(`http://127.0.0.1:${port}`);
      const outcome = await run.save();
      expect(outcome.error).toMatchObject({ exitStatus: 7, retryable: true });
      expect(await run.names()).toEqual([]);
    }
    await new Promise((resolve) => server.close(resolve));
  });
});
