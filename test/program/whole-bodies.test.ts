import { createHash } from 'node:crypto';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { Connections } from '../../src/http/connections.ts';
import { get } from '../../src/http/request.ts';
import type { ByteWriter } from '../../src/stdio/byte-writer.ts';
import { head } from '../servers/answers.ts';
import { tlsWith } from '../servers/certificates.ts';
import { type Pump, pump } from '../servers/pump.ts';
import { type Script, scripted } from '../servers/scripted.ts';
import { content, startRun } from '../service/transfer-fixture.ts';

// Read buffers are used again. If that happens too early, a file has wrong bytes, and nothing but its hash shows it.

const WRITE_BYTES = 250_000;
/** The sizes of chunks, and of writes of a body with a length: within a read, about one, and over several. */
const CHUNK_SIZES = [1, 1000, 5000, 65_536, 300_000];
/** A body of tiny chunks is much longer on the wire than by itself. */
const bodySize = (chunkSize: number) => (chunkSize === 1 ? 100_000 : 4_000_000);

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const chunkOf = (bytes: Buffer) => Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, CRLF]);
const CRLF = Buffer.from('\r\n');

/** Returns a body's pieces of `size` bytes. */
function piecesOf(body: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(body.length / size) }, (_, at) => body.subarray(at * size, (at + 1) * size));
}

/** Answers every request with `body`, several chunks in each write. */
function answering(body: Buffer, framing: string, chunkSize: number): Script {
  return (socket) => {
    if (framing === 'length') {
      socket.write(head(200, { 'Content-Length': body.length }));
      for (const piece of piecesOf(body, chunkSize === 1 ? body.length : chunkSize)) socket.write(piece);
    } else {
      socket.write(head(200, { 'Transfer-Encoding': 'chunked' }));
      const all = Buffer.concat([...piecesOf(body, chunkSize).map(chunkOf), Buffer.from('0\r\n\r\n')]);
      for (const piece of piecesOf(all, WRITE_BYTES)) socket.write(piece);
    }
  };
}

/** A writer that takes its time, and looks at the bytes only then. */
function slowWriter(): ByteWriter & { digest(): string } {
  const hash = createHash('sha256');
  return {
    async write(chunks) {
      await wait(2);
      for (const chunk of chunks) hash.update(chunk);
    },
    async end() {},
    digest: () => hash.digest('hex'),
  };
}

const tlsOf = (scheme: string) => (scheme === 'https' ? tlsWith('own-name') : undefined);

function newConnections(): Connections {
  const world = { env: {}, monotonic: () => performance.now(), sleep };
  const connections = new Connections({ connectTimeout: 10_000, idleTimeout: 20_000 }, world);
  onTestFinished(() => connections.close());
  return connections;
}

const ask = (connections: Connections, url: string) =>
  get(connections, async () => ({ url: new URL(url), headers: {}, signal: new AbortController().signal }));

describe.each(['http', 'https'])('over %s', (scheme) => {
  test.each(['chunked', 'length'])('a body that is %s has its hash on disk and in a pipe', async (framing) => {
    for (const chunkSize of CHUNK_SIZES) {
      const body = content(bodySize(chunkSize));
      const server = await scripted(answering(body, framing, chunkSize), tlsOf(scheme));
      const run = await startRun(server.url);
      expect((await run.save()).error).toBeUndefined();
      const hashes = [sha256(await run.read())];
      const writer = slowWriter();
      expect((await run.pipe(writer)).error).toBeUndefined();
      hashes.push(writer.digest());
      expect([chunkSize, ...hashes]).toEqual([chunkSize, ...hashes.map(() => sha256(body))]);
    }
  });

  test('a reader that stops gets the right bytes when it continues, and little is read ahead of it', async () => {
    const total = 64 << 20;
    let sent: Pump | undefined;
    const server = await scripted((socket) => {
      socket.write(head(200, { 'Content-Length': total }));
      sent = pump(socket, total);
    }, tlsOf(scheme));
    const { body } = await ask(newConnections(), server.url);
    const hash = createHash('sha256');
    // At the beginning, and once more after the connection has been released.
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
    const sent = LONGEST.subarray(0, isCut ? Math.floor(size * 0.8) : size);
    socket.write(`HTTP/1.1 200 OK\r\nConnection: ${framing === 'keep-alive' ? framing : 'close'}\r\n`);
    if (framing === 'chunked') socket.write(`Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n`);
    else socket.write(framing === 'until-close' ? '\r\n' : `Content-Length: ${size}\r\n\r\n`);
    socket.write(sent);
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
    const { body } = await ask(newConnections(), url);
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
  test.each([
    ['whole', 'FIN'],
    ['whole', 'RST'],
    ['cut', 'FIN'],
    ['cut', 'RST'],
  ])('that is %s and ends with %s gives a reader that pauses only right bytes', async (part, how) => {
    const isCut = part === 'cut';
    const { url } = await scripted(ending(framing, isCut, how));
    for (const pause of [() => turn(), () => wait(2), () => wait(0)]) {
      for (const size of [3, 40_000, LONGEST.length]) {
        const { bytes, error } = await readWith(`${url}/${size}`, pause);
        // A reset may overtake bytes in the kernel. This is an error, and no byte is wrong.
        expect(bytes.equals(LONGEST.subarray(0, bytes.length))).toBe(true);
        // Nothing overtakes a FIN: all sent bytes arrive, even before an error.
        if (how === 'FIN') expect(bytes.length).toBe(isCut ? Math.floor(size * 0.8) : size);
        if (error !== undefined) {
          expect(error).toMatchObject({ name: 'FilingsError', retryable: true });
          expect(isCut || how === 'RST').toBe(true);
        } else if (framing === 'until-close') expect(how).toBe('FIN');
        else expect([bytes.length, part]).toEqual([size, 'whole']);
      }
    }
  });
});
