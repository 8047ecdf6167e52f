import { readFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { constants, getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ACCESSION, until, type Workplace, workplace } from '../../cli/program.ts';
import { readReport } from '../../program/batch.ts';
import { head } from '../../servers/answers.ts';
import { accession, type Instead, startArchive } from '../../servers/archive.ts';
import { tlsWith } from '../../servers/certificates.ts';
import { NO_NGINX, SERVICE_KEY, startProxy } from '../../servers/nginx.ts';
import { content } from '../../service/transfer-fixture.ts';

const there = test.skipIf(NO_NGINX !== '');

/** As the recipe's comment tells it. */
const RECIPE = readFileSync(join(import.meta.dirname, '../../../docs/recipes/nginx/nginx.conf'), 'utf8');
const BUDGET = Number(/The budget: (\d+) requests a second/.exec(RECIPE)?.[1]);
const SHARDS = 8;
const FILES = 10;
const filings = Object.fromEntries(
  Array.from({ length: 16 }, (_, n) => [
    accession(n),
    Object.fromEntries(Array.from({ length: FILES }, (_, f) => [`ex${f}.htm`, content(3000 + n * FILES + f)])),
  ]),
);

/** When a request came, as exactly as this process can tell: it was busy with something else from `from` to `to`. */
interface Arrival {
  readonly from: number;
  readonly to: number;
}

function arrivals() {
  const seen: Arrival[] = [];
  // After a pause a timer has its turn before the sockets: what came meanwhile came after the tick before that.
  let [from, tick] = [performance.now(), performance.now()];
  const ticking = setInterval(() => {
    [from, tick] = [tick, performance.now()];
  }, 2);
  return {
    seen,
    note: () => void seen.push({ from, to: performance.now() }),
    stop: () => clearInterval(ticking),
  };
}

/** As on a machine of its own, the service is not held up by the runs, which are started by now: what waits comes at once. */
function comesFirst(): void {
  const before = getPriority();
  try {
    setPriority(constants.priority.PRIORITY_HIGHEST);
    onTestFinished(() => setPriority(before));
  } catch {
    // Only root may.
  }
}

/** The most that came within a second that began with one of them. */
function mostInASecond(seen: readonly Arrival[]): number {
  const within = (first: Arrival) => seen.filter(({ from, to }) => from >= first.from && to - first.from < 1000).length;
  return Math.max(...seen.map(within));
}

async function expectTree(place: Workplace, name: string): Promise<void> {
  for (const [number, files] of Object.entries(filings)) {
    const folder = join(place.path, name, number);
    expect((await readdir(folder)).sort()).toEqual([...Object.keys(files), 'SHA256SUMS'].sort());
    for (const [file, bytes] of Object.entries(files)) {
      expect((await readFile(join(folder, file))).equals(bytes)).toBe(true);
    }
  }
}

describe(`nginx in front of the service${NO_NGINX}`, () => {
  there('eight shards and a ninth run of everything: one budget, used, and nothing is fetched twice', async () => {
    const { seen, note, stop } = arrivals();
    const instead: Instead = () => void note();
    const service = await startArchive(filings, { tls: tlsWith('own-name'), instead });
    const { env } = await startProxy(service.port);
    const place = await workplace();
    await writeFile(join(place.path, 'in'), Object.keys(filings).join('\n'));
    const line = ['download', '-i', 'in', '--all', '--checksums', '-q', '-j', '8'];
    const shards = Array.from({ length: SHARDS }, (_, at) =>
      place.start([...line, '-d', 'out', '--shard', `${at + 1}/${SHARDS}`], env),
    );
    const everything = place.start([...line, '-d', 'again'], env);
    comesFirst();
    for (const { ended } of [...shards, everything]) expect(await ended).toMatchObject({ exitCode: 0, stderr: '' });
    stop();
    await expectTree(place, 'out');
    await expectTree(place, 'again');

    expect([...service.asked()].sort()).toEqual(
      Object.keys(filings)
        .flatMap((number) => [number, ...Object.keys(filings[number] ?? {}).map((file) => `${number}/${file}`)])
        .sort(),
    );
    expect(new Set(service.requests.map(({ headers }) => headers.authorization))).toEqual(new Set([SERVICE_KEY]));
    expect(new Set(service.requests.map(({ headers }) => headers.host))).toEqual(new Set(['service.example']));
    // Without the first quarter: how long it takes until all of them run is the machine's matter.
    const then = seen.slice(seen.length / 4);
    const seconds = ((then.at(-1)?.to ?? 0) - (then[0]?.from ?? 0)) / 1000;
    const used = (then.length - 1) / seconds / BUDGET;
    process.stdout.write(
      `${seen.length} requests: ${mostInASecond(seen)} in a second at most, ${(used * 100).toFixed(1)} % of the budget used\n`,
    );
    expect(mostInASecond(seen)).toBeLessThanOrEqual(BUDGET);
    expect(used).toBeGreaterThanOrEqual(0.9);
  });

  there('a machine that is killed in a file goes on with what the cache has by then', async () => {
    const LARGE = content(6_000_000);
    const service = await startArchive({ [ACCESSION]: { 'large.xml': LARGE } }, { tls: tlsWith('own-name') });
    const { env } = await startProxy(service.port);
    const place = await workplace();
    const line = ['download', ACCESSION, 'large.xml', '--report', 'report'];
    const running = place.start([...line, '--limit-rate', '2MB/s'], env);
    const held = async () => {
      const record = (await place.names()).find((name) => name.endsWith('.resume'));
      const part = (await place.names()).find((name) => name.endsWith('.part'));
      return record !== undefined && part !== undefined && (await place.read(part)).length > 1_500_000;
    };
    await until(held);
    running.kill('SIGKILL');
    await running.ended;
    expect(await place.filings(line, env)).toMatchObject({ exitCode: 0 });
    expect((await place.read('large.xml')).equals(LARGE)).toBe(true);
    expect(readReport(await place.read('report')).files).toMatchObject([{ result: 'resumed', bytes: LARGE.length }]);
    expect(service.asked()).toEqual([`${ACCESSION}/large.xml`]);
  });

  there('a full queue: the machines wait, and nothing is lost', async () => {
    const service = await startArchive(filings, { tls: tlsWith('own-name') });
    const { env, log } = await startProxy(service.port, [
      ['burst=285', 'burst=2'],
      ['Retry-After 5', 'Retry-After 1'],
    ]);
    const place = await workplace();
    const names = Array.from({ length: FILES }, (_, f) => `ex${f}.htm`);
    const { exitCode, stderr } = await place.filings(['download', accession(0), ...names, '-j', '8', '-v'], env);
    expect(exitCode, stderr).toBe(0);
    expect(stderr).toContain('429');
    for (const name of names)
      expect((await place.read(name)).equals(filings[accession(0)]?.[name] as Buffer)).toBe(true);
    expect(service.asked()).toHaveLength(FILES);
    // What was turned away was not spent.
    expect((await log('spent')).split('\n').filter((each) => / 200 /.test(each))).toHaveLength(FILES);
  });

  there('a redirect to the service itself goes through the proxy, too', async () => {
    const to = `https://service.example/v1/download?accession_no=${ACCESSION}&file_name=b.htm`;
    const instead: Instead = (socket, { name }) => {
      if (name === 'a.htm') socket.write(head(302, { Location: to, 'Content-Length': 0 }));
      return name === 'a.htm';
    };
    const service = await startArchive({ [ACCESSION]: { 'b.htm': 'it' } }, { tls: tlsWith('own-name'), instead });
    const { env } = await startProxy(service.port);
    const place = await workplace();
    const { exitCode, stdout, stderr } = await place.filings(['download', ACCESSION, 'a.htm', '-o', '-'], env);
    expect([exitCode, stdout.toString()], stderr).toEqual([0, 'it']);
    expect(service.asked()).toEqual([`${ACCESSION}/a.htm`, `${ACCESSION}/b.htm`]);
  });

  there('a service with the certificate of another gets no key', async () => {
    const service = await startArchive({}, { tls: tlsWith('other-name') });
    const { env, log } = await startProxy(service.port);
    const place = await workplace();
    const { exitCode, stderr } = await place.filings(['download', ACCESSION, 'a.htm', '--retries', '0'], env);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 7, stderr: expect.stringContaining('502') });
    expect(service.requests).toEqual([]);
    expect(await log('error')).toContain('certificate verify error');
    expect(await log('error')).not.toContain(SERVICE_KEY);
  });

  there('a key in the query, and any other path, go no further', async () => {
    const service = await startArchive({}, { tls: tlsWith('own-name') });
    const { env } = await startProxy(service.port);
    const place = await workplace();
    for (const [way, status] of [
      ['query', 400],
      ['path', 404],
    ] as const) {
      const { exitCode, stderr } = await place.filings(['list', ACCESSION, '--key-in', way], env);
      expect(exitCode).not.toBe(0);
      expect(stderr).toContain(`${status}`);
    }
    expect(service.requests).toEqual([]);
  });
});
