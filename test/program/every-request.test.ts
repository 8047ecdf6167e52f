import { readdir, readlink } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { head } from '../servers/answers.ts';
import { accession, type Instead, startArchive } from '../servers/archive.ts';
import { batchPlace } from './batch.ts';

// Every request counts, has its turn, and comes no sooner than the service allows.

const [A, B] = [accession(1), accession(2)];
const FILES = { 'f0.htm': 'zero', 'f1.htm': 'one', 'f2.htm': 'two' };
const LINES = Object.keys(FILES).map((name) => `${A} ${name}`);

async function setUp(instead: Instead) {
  const archive = await startArchive({ [A]: FILES, [B]: FILES }, { instead });
  return { archive, place: await batchPlace(archive.env) };
}

test('--rate: a redirect is a request, and has its turn', async () => {
  const times: number[] = [];
  const { place } = await setUp((socket, { request, before }) => {
    times.push(performance.now());
    if (before % 2 > 0) return false;
    socket.write(head(302, { 'Content-Length': 0, Location: `${request.path}&again` }));
    return true;
  });
  // Without a rate, so that all modules are loaded.
  await place.batch(LINES, ['-d', 'before']);
  expect((await place.batch(LINES, ['--rate', '4/s'])).exitCode).toBe(0);
  const [first = 0, ...others] = times.slice(-6);
  // Five turns behind the first, which may have come late; without those of the redirects there are two.
  expect((others.at(-1) ?? 0) - first).toBeGreaterThan(600);
});

test('--rate: what is asked for anew, since a range can not be used, has its turn', async () => {
  const times: number[] = [];
  const { place } = await setUp((socket, { name, before }) => {
    if (name !== 'f0.htm') return false;
    times.push(performance.now());
    const length = { ETag: '"a"', 'Content-Length': 4 };
    if (before === 0) {
      socket.write(`${head(200, length)}ze`);
      socket.end();
      return true;
    }
    if (before > 1) return false;
    socket.write(`${head(206, { ETag: '"b"', 'Content-Length': 2, 'Content-Range': 'bytes 2-3/4' })}XX`);
    return true;
  });
  // Two files, so that it is a batch; the other one comes first.
  const { exitCode, stderr } = await place.batch([`${A} f1.htm`, `${A} f0.htm`], ['--rate', '2/s', '-j', '1']);
  expect(exitCode, stderr).toBe(0);
  const [, ranged = 0, anew = 0] = times;
  expect(times).toHaveLength(3);
  // Half a second, of which the first may have been late; without a turn of its own it comes at once.
  expect(anew - ranged).toBeGreaterThan(100);
});

test('one that the service dropped on a connection that was kept counts, and so does the same again', async () => {
  const { archive, place } = await setUp((socket, { name }) => {
    if (name === undefined) return false;
    socket.destroy();
    return true;
  });
  const { exitCode, report } = await place.batch([A], ['--include', 'f0*', '-j', '1', '--retries', '0']);
  expect(exitCode).toBe(7);
  expect(archive.asked()).toEqual([A, `${A}/f0.htm`, `${A}/f0.htm`]);
  expect(report.summaries).toMatchObject([{ requests: 3, failed: 1 }]);
});

test('Retry-After holds for the other files, also when this one is not tried again', async () => {
  const times: number[] = [];
  const { place } = await setUp((socket, { name }) => {
    times.push(performance.now());
    if (name !== 'f0.htm') return false;
    socket.write(head(429, { 'Content-Length': 0, 'Retry-After': 1 }));
    return true;
  });
  const { exitCode, report } = await place.batch(LINES, ['--retries', '0', '-j', '1']);
  expect(exitCode).toBe(7);
  expect(report.summaries).toMatchObject([{ downloaded: 2, failed: 1 }]);
  const [asked = 0, next = 0] = times;
  expect(next - asked).toBeGreaterThan(990);
});

test('a wait over the cap that the next listing is told keeps the files before it from asking again', async () => {
  let begin: (socket: Socket) => void = () => {};
  const first = new Promise<Socket>((resolve) => {
    begin = resolve;
  });
  const { archive, place } = await setUp((socket, { accession: filing, name, before }) => {
    if (filing === A && name === undefined) return false;
    if (name === 'f0.htm' && before === 0) begin(socket);
    // The listing behind them is told to wait while they are in flight; then one of them is told to come again.
    if (filing === B) {
      void first.then((other) => {
        socket.write(head(429, { 'Content-Length': 0, 'Retry-After': 400 }), () =>
          other.write(head(503, { 'Content-Length': 0 })),
        );
      });
    }
    return true;
  });
  const { exitCode, report } = await place.batch([A, B], ['--all', '-j', '3']);
  expect(exitCode).toBe(7);
  expect(archive.asked().filter((asked) => asked === `${A}/f0.htm`)).toHaveLength(1);
  expect(report.summaries).toMatchObject([{ stopped_by: 'temporary', retry_at: expect.any(String) }]);
});

test.runIf(process.platform === 'linux')('a report is closed when the books beside it cannot be opened', async () => {
  const { place } = await setUp(() => false);
  const { exitCode } = await place.batch(LINES, ['--failed', 'no/such/list']);
  expect(exitCode).toBe(8);
  const numbers = await readdir('/proc/self/fd');
  const open = await Promise.all(numbers.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  expect(open).not.toContain(join(place.path, 'report'));
});
