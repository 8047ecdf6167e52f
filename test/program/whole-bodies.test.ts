import { createHash } from 'node:crypto';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { Connections } from '../../src/http/connections.ts';
import { get } from '../../src/http/request.ts';
import type { ByteWriter } from '../../src/stdio/output.ts';
import { head } from '../servers/answers.ts';
import { tlsWith } from '../servers/certificates.ts';
import { type Pump, pump } from '../servers/pump.ts';
import { type Script, scripted } from '../servers/scripted.ts';
import { content, startRun } from '../service/transfer-fixture.ts';

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const tlsOf = (scheme: string) => (scheme === 'https' ? tlsWith('own-name') : undefined);

/** Returns the pieces of `size` bytes. */
const piecesOf = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));

/** Answers with `body` in chunks of `size` bytes, several of them in each write. With size 0 the body has a length. */
function answering(body: Buffer, size: number): Script {
  const chunkOf = (bytes: Buffer) => [Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')];
  const chunked = () => Buffer.concat([...piecesOf(body, size).flatMap(chunkOf), Buffer.from('0\r\n\r\n')]);
  const framing = size === 0 ? { 'Content-Length': body.length } : { 'Transfer-Encoding': 'chunked' };
  const writes = piecesOf(size === 0 ? body : chunked(), 250_000);
  return (socket) => {
    socket.write(head(200, framing));
    for (const piece of writes) socket.write(piece);
  };
}

/** A writer that takes its time, and looks at the bytes only then. */
function slowWriter(): ByteWriter & { digest(): string } {
  const hash = createHash('sha256');
  return {
    async write(chunks) {
      await wait(1);
      for (const chunk of chunks) hash.update(chunk);
    },
    async end() {},
    digest: () => hash.digest('hex'),
  };
}

/** Requests a URL with connections of its own. */
async function ask(url: string) {
  const world = { env: {}, monotonic: () => performance.now(), sleep };
  const connections = new Connections({ connectTimeout: 10_000, idleTimeout: 20_000 }, world);
  onTestFinished(() => connections.close());
  const answer = await get(connections, { url: new URL(url), headers: {}, signal: new AbortController().signal });
  if (answer) return answer;
  throw new Error('a new connection is never closed as a reused one');
}

describe.each(['http', 'https'])('over %s', (scheme) => {
  // Read buffers are used again. If that happens too early, a file has wrong bytes, and nothing but its hash shows it.
  test.each`
    body                                    | size       | bytes
    ${'with a length'}                      | ${0}       | ${3_000_000}
    ${'in chunks of a byte'}                | ${1}       | ${70_000}
    ${'in chunks that are copied together'} | ${1000}    | ${3_000_000}
    ${'in chunks within a read'}            | ${5000}    | ${3_000_000}
    ${'in chunks over several reads'}       | ${300_000} | ${3_000_000}
  `('a body $body has its hash on disk and in a pipe', async ({ size, bytes }) => {
    const body = content(bytes);
    const run = await startRun((await scripted(answering(body, size), tlsOf(scheme))).url);
    const writer = slowWriter();
    expect([(await run.save()).error, (await run.pipe(writer)).error]).toEqual([undefined, undefined]);
    expect([sha256(await run.read()), writer.digest()]).toEqual([sha256(body), sha256(body)]);
  });

  test('a reader that stops gets the right bytes when it continues, and little is read ahead of it', async () => {
    const total = 64 << 20;
    let sent: Pump | undefined;
    const server = await scripted((socket) => {
      socket.write(head(200, { 'Content-Length': total }));
      sent = pump(socket, total);
    }, tlsOf(scheme));
    const { body } = await ask(server.url);
    const hash = createHash('sha256');
    // The first pause, and a later one.
    for (const _ of [1, 2]) {
      for (const chunk of (await body.read()) ?? []) hash.update(chunk);
      expect(await sent?.stopped()).toBeLessThan(total / 2);
    }
    for (let taken = await body.read(); taken; taken = await body.read()) for (const chunk of taken) hash.update(chunk);
    expect(hash.digest('hex')).toBe(sent?.digest());
  });
});

// The parser of undici crashes if the connection ends while it is paused. Here the reader pauses after every chunk, and
// the connection ends in every possible way.
const LONGEST = content(2_500_000);

/** Returns a script that sends as many bytes as the path says, or four fifths of them, and ends the connection. */
function ending(framing: string, isCut: boolean, how: string): Script {
  return (socket, { path }) => {
    const size = Number(path.slice(1));
    socket.write(`HTTP/1.1 200 OK\r\nConnection: ${framing === 'keep-alive' ? framing : 'close'}\r\n`);
    if (framing === 'chunked') socket.write(`Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n`);
    else socket.write(framing === 'until-close' ? '\r\n' : `Content-Length: ${size}\r\n\r\n`);
    socket.write(LONGEST.subarray(0, isCut ? size * 0.8 : size));
    if (framing === 'chunked' && !isCut) socket.write('\r\n0\r\n\r\n');
    // The empty write calls back when the kernel has all bytes before it.
    if (how === 'RST') socket.write('', () => socket.resetAndDestroy());
    else socket.end();
  };
}

/** Returns the bytes that a reader gets who pauses after each chunk, and the error that ends them. */
async function readWith(url: string, pause: () => Promise<unknown>) {
  const chunks: Buffer[] = [];
  let error: unknown;
  try {
    const { body } = await ask(url);
    for (let batch = await body.read(); batch; batch = await body.read()) {
      chunks.push(Buffer.concat(batch));
      await pause();
    }
  } catch (thrown) {
    error = thrown;
  }
  return { bytes: Buffer.concat(chunks), error };
}

describe.each(['length', 'keep-alive', 'chunked', 'until-close'])('a body with the framing %s', (framing) => {
  test.each`
    part       | how
    ${'whole'} | ${'FIN'}
    ${'whole'} | ${'RST'}
    ${'cut'}   | ${'FIN'}
    ${'cut'}   | ${'RST'}
  `('that is $part and ends with $how gives a reader that pauses only right bytes', async ({ part, how }) => {
    const isCut = part === 'cut';
    const { url } = await scripted(ending(framing, isCut, how));
    for (const pause of [() => turn(), () => wait(2), () => wait(0)]) {
      for (const size of [5, 40_000, LONGEST.length]) {
        const { bytes, error } = await readWith(`${url}/${size}`, pause);
        // A reset may overtake bytes in the kernel. This is an error, and no byte is wrong.
        expect(bytes.equals(LONGEST.subarray(0, bytes.length))).toBe(true);
        // Nothing overtakes a FIN: all sent bytes arrive, even before an error.
        if (how === 'FIN') expect(bytes.length).toBe(isCut ? size * 0.8 : size);
        if (error !== undefined) {
          expect(error).toMatchObject({ name: 'FilingsError', retryable: true });
          expect(isCut || how === 'RST').toBe(true);
        } else if (framing === 'until-close') expect(how).toBe('FIN');
        else expect([bytes.length, part]).toEqual([size, 'whole']);
      }
    }
  });
});
