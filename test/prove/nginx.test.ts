import { stat, utimes } from 'node:fs/promises';
import { expect } from 'vitest';
import { ACCESSION, test as base, serviceAt, until, workplace } from '../cli/program.ts';
import { readReport } from '../program/batch.ts';
import { accession } from '../servers/archive.ts';
import { closedPort } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { startDaemon } from './daemon.ts';
import { MIRROR } from './mirror-line.ts';
import { treeOf } from './recipes/mirrored.ts';

const FILE = content(8_000_000);
const PATH = `${ACCESSION}/a.htm`;
const GET = ['download', ACCESSION, 'a.htm', '--report', 'report'];
/** Makes nginx send {@link FILE} for four seconds. */
const SLOW = 'limit_rate 2m;';
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** Paths are relative to the directory of nginx. `main` has directives for all, `file` those for a download. */
const configOf = (port: number, main: string, file: string) => `
daemon off; user root; pid nginx.pid; ${main}
events {}
http {
  ${TEMPORARY.map((name) => `${name}_temp_path temporary;`).join(' ')}
  log_format each '$status $arg_accession_no/$arg_file_name $body_bytes_sent';
  access_log access.log each;
  gzip on; gzip_types *; gzip_min_length 0;
  limit_req_zone $binary_remote_addr zone=all:32k rate=4r/s;
  server {
    listen 127.0.0.1:${port};
    location = /v1/download { root files; ${file} try_files /$arg_accession_no/$arg_file_name =404; }
    location = /v1/filings { root lists; default_type application/json; try_files /$arg_accession_no =404; }
  }
}`;

/** A workplace with an nginx that has static files and listings. */
const test = base.extend('nginx', async () => {
  const [place, port] = [await workplace(), await closedPort()];
  const put = (path: string, bytes: string | Uint8Array) => place.write(`../nginx/${path}`, bytes);
  // The ETag of nginx has the time in seconds.
  await utimes(await put(`files/${PATH}`, FILE), 0, 0);
  const env = serviceAt(`http://127.0.0.1:${port}`);
  return {
    ...place,
    put,
    env,
    async start(file: string, main = '') {
      await put('nginx.conf', configOf(port, main, file));
      return startDaemon(['nginx', '-e', 'stderr', '-p', `${place.home}/nginx`, '-c', 'nginx.conf'], port);
    },
    /** Starts the download of {@link FILE} and waits until the part is large enough to be kept. */
    async downloading(...more: string[]) {
      const running = place.start([...GET, ...more], env);
      const sizes = async () =>
        Promise.all((await place.parts()).map(async (name) => (await stat(place.at(name))).size));
      await until(async () => (await sizes()).some((size) => size > 1_500_000), running.stderr);
      return running;
    },
    /** Waits until the log has so many requests. Each is a status, ACCESSION/NAME, and the number of bytes of the body. */
    async requests(count: number) {
      const read = async () => `${await place.read('../nginx/access.log')}`.match(/.+/g) ?? [];
      await until(async () => (await read()).length >= count);
      return read();
    },
    report: async () => readReport(await place.read('report')),
  };
});

test.for([429, 503])('a mirror is complete although nginx refuses many requests with %i', async (status, { nginx }) => {
  const numbers = [accession(1), accession(2)];
  const tree: Record<string, string> = {};
  for (const number of numbers) {
    const names = Array.from({ length: 8 }, (_, n) => `f${n}.htm`);
    for (const name of names) tree[`${number}/${name}`] = `${number} ${name}`.repeat(100);
    await nginx.put(`lists/${number}`, JSON.stringify({ total: names.length, files: names }));
  }
  for (const [path, text] of Object.entries(tree)) await nginx.put(`files/${path}`, text);
  await nginx.write('in', numbers.join('\n'));
  await nginx.start(`limit_req zone=all; limit_req_status ${status};`);
  const { exitCode, stderr } = await nginx.filings([...MIRROR, '--report', 'report'], nginx.env);
  expect(exitCode, stderr).toBe(0);
  expect(await treeOf(nginx.at('out'))).toMatchObject(tree);
  const { requests = 0, retries, failed } = (await nginx.report()).summaries[0] ?? {};
  const lines = await nginx.requests(Number(requests));
  const refused = lines.filter((line) => line.startsWith(`${status} `)).length;
  expect({ refused, requests: lines.length, failed }).toEqual({ refused: retries, requests, failed: 0 });
  expect(refused).toBeGreaterThan(0);
  expect(lines.filter((line) => line.startsWith('200 '))).toHaveLength(numbers.length + Object.keys(tree).length);
  process.stdout.write(`${refused} of ${requests} requests refused with ${status}\n`);
});

// After a reload, an old worker closes a connection behind the response that it is sending, even if it said keep-alive.
type Reload = { main: string; sent: RegExp[]; counts: object };
const NONE = { downloaded: 2, resumed: 0, retries: 0 };
const ONE = { downloaded: 1, resumed: 1, retries: 1 };
const REST = [/^200 .*a.htm/, /^206 .*a.htm/, /^200 .*b.htm/];
test.for`
  what             | main                              | sent                                         | counts
  ${'is finished'} | ${''}                             | ${[/^200 .*a.htm 8000000$/, /^200 .*b.htm/]} | ${NONE}
  ${'is cut'}      | ${'worker_shutdown_timeout 1ms;'} | ${REST}                                      | ${ONE}
`('a download that $what by the old worker after a reload of nginx is complete', async (row: Reload, { nginx }) => {
  await nginx.put(`files/${ACCESSION}/b.htm`, 'b');
  const { kill } = await nginx.start(SLOW, row.main);
  const running = await nginx.downloading('b.htm', '-j', '1');
  kill('SIGHUP');
  const { exitCode, stderr } = await running.ended;
  expect([exitCode, (await nginx.read('a.htm')).equals(FILE)], stderr).toEqual([0, true]);
  expect(await nginx.requests(row.sent.length)).toEqual(row.sent.map((line) => expect.stringMatching(line)));
  expect((await nginx.report()).summaries).toMatchObject([row.counts]);
});

test.for([
  { what: 'continues', file: FILE, status: 206, result: 'resumed' },
  { what: 'begins again if the file was replaced', file: content(FILE.length), status: 200, result: 'downloaded' },
])('a stopped download $what after a restart of nginx', async ({ file, status, result }, { nginx }) => {
  const { stop } = await nginx.start(SLOW);
  const running = await nginx.downloading();
  running.kill('SIGTERM');
  expect(await running.ended).toMatchObject({ exitCode: 143 });
  await stop();
  if (file !== FILE) await nginx.put(`files/${PATH}`, file);
  await nginx.start('');
  const { exitCode, stderr } = await nginx.filings(GET, nginx.env);
  expect([exitCode, (await nginx.read('a.htm')).equals(file)], stderr).toEqual([0, true]);
  expect(await nginx.requests(2)).toEqual([expect.stringMatching(/^200 /), expect.stringMatching(`^${status} `)]);
  expect((await nginx.report()).files.at(-1)).toMatchObject({ result, attempts: 1 });
});
