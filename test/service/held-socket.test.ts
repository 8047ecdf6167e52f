import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sleep as pause } from '../../src/abort.ts';
import { Connections } from '../../src/http/connections.ts';
import { get } from '../../src/http/request.ts';
import { type Script, scripted } from '../servers/scripted.ts';
import { content } from './transfer-fixture.ts';

// The parser of undici crashes if the connection ends while it is paused. Here the consumer pauses after every chunk,
// and the connection ends in every possible way.
const FRAMINGS = ['length', 'keep-alive', 'chunked', 'until-close'] as const;
const SIZES = [3, 40_000, 2_500_000] as const;
const WORLD = { env: {}, monotonic: () => performance.now(), sleep: pause };

const FILE = content(Math.max(...SIZES));

/** Returns a script that sends as many bytes as the path says and ends the connection. */
function respondingWith(framing: string, part: string, ending: string): Script {
  return (socket, { path }) => {
    const size = Number(path.slice(1));
    const sent = FILE.subarray(0, part === 'cut' ? Math.floor(size * 0.8) : size);
    socket.write(`HTTP/1.1 200 OK\r\nConnection: ${framing === 'keep-alive' ? framing : 'close'}\r\n`);
    if (framing === 'chunked') {
      socket.write(`Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n`);
      socket.write(sent);
      if (part === 'whole') socket.write('\r\n0\r\n\r\n');
    } else {
      socket.write(framing === 'until-close' ? '\r\n' : `Content-Length: ${size}\r\n\r\n`);
      socket.write(sent);
    }
    // The empty write calls back when the kernel has all bytes before it.
    if (ending === 'RST') socket.write('', () => socket.resetAndDestroy());
    else socket.end();
  };
}

async function consume(url: URL, pause: () => Promise<unknown>) {
  const connections = new Connections({ connectTimeout: 10_000, idleTimeout: 20_000 }, WORLD);
  const chunks: Buffer[] = [];
  let error: unknown;
  try {
    const { signal } = new AbortController();
    const { body } = await get(connections, async () => ({ url, headers: {}, signal }));
    for (let batch = await body.read(); batch; batch = await body.read()) {
      chunks.push(Buffer.concat(batch));
      await pause();
    }
  } catch (thrown) {
    error = thrown;
  }
  connections.close();
  return { bytes: Buffer.concat(chunks), error };
}

const cases = FRAMINGS.flatMap((framing) =>
  (['whole', 'cut'] as const).flatMap((part) =>
    (['FIN', 'RST'] as const).map((ending) => [framing, part, ending] as const),
  ),
);

test.each(cases)('gives a pausing consumer only right bytes: %s, %s, %s', async (framing, part, ending) => {
  const { url } = await scripted(respondingWith(framing, part, ending));
  for (const pause of [() => turn(), () => sleep(2), () => sleep(0)]) {
    for (const size of SIZES) {
      const { bytes, error } = await consume(new URL(`/${size}`, url), pause);
      // A reset may overtake bytes in the kernel. This is an error, and no byte is wrong.
      expect(bytes.equals(FILE.subarray(0, bytes.length))).toBe(true);
      // Nothing overtakes a FIN: all sent bytes arrive, even before an error.
      if (ending === 'FIN') expect(bytes.length).toBe(part === 'cut' ? Math.floor(size * 0.8) : size);
      if (error !== undefined) {
        expect(error).toMatchObject({ name: 'FilingsError', retryable: true });
        expect(part === 'cut' || ending === 'RST').toBe(true);
      } else if (framing === 'until-close') expect(ending).toBe('FIN');
      else expect([bytes.length, part]).toEqual([size, 'whole']);
    }
  }
});
