import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { started, until, workplace } from '../../cli/program.ts';
import { startArchive } from '../../servers/archive.ts';
import { certificatePath, tlsWith } from '../../servers/certificates.ts';
import { closedPort, listens } from '../../servers/scripted.ts';
import { FILINGS, NUMBERS, treeOf } from './mirrored.ts';

// The proxy's files are in memory, so that neither the work nor the flushes of the runs delay it.
const MEMORY = '/dev/shm';
const RECIPE = join(import.meta.dirname, '../../../docs/recipes/nginx/nginx.conf');
/** The key that the proxy adds. The runs do not have it. */
const SERVICE_KEY = 'the-key-of-the-proxy-alone';

/**
 * Starts nginx with the recipe's configuration, unchanged except for paths, addresses, names and the rate. `port` is
 * that of the service on this machine, over TLS. Returns the environment that the recipe gives, which has no real key.
 */
async function startProxy(port: number) {
  const place = await mkdtemp(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'filings-nginx-'));
  onTestFinished(() => rm(place, { recursive: true, force: true, maxRetries: 5 }));
  for (const name of ['etc', 'run', 'log', 'cache']) await mkdir(join(place, name));
  await writeFile(join(place, 'etc/key.conf'), `proxy_set_header Authorization "${SERVICE_KEY}";\n`, { mode: 0o600 });
  const own = await closedPort();
  const changes = [
    // A worker of another user could not enter the test's folder.
    ['user www-data;', process.geteuid?.() === 0 ? 'user root;' : ''],
    ['/etc/filings-proxy', join(place, 'etc')],
    ['/run/filings-proxy', join(place, 'run')],
    ['/var/log/filings-proxy', join(place, 'log')],
    ['/var/cache/filings-proxy', join(place, 'cache')],
    ['127.0.0.1:8780', `127.0.0.1:${own}`],
    ['api.example.com:443', `127.0.0.1:${port}`],
    ['api.example.com', 'service.example'],
    ['/etc/ssl/certs/ca-certificates.crt', certificatePath('own-name')],
    // The rate limit would only delay the test.
    ['rate=570r/m', 'rate=100r/s'],
  ] as const;
  let text = await readFile(RECIPE, 'utf8');
  for (const [from, to] of changes) {
    expect(text).toContain(from);
    text = text.replaceAll(from, to);
  }
  const conf = join(place, 'etc/nginx.conf');
  await writeFile(conf, text);
  const line = ['nice', '-n', '-20', 'nginx', '-c', conf, '-e', join(place, 'log/error.log'), '-g', 'daemon off;'];
  // Debian keeps nginx outside the PATH of a user.
  const { ended, kill } = started(line, { env: { PATH: `${process.env.PATH}:/usr/sbin` } });
  onTestFinished(async () => {
    kill('SIGTERM');
    await ended;
  });
  const over = ended.then(({ stderr }) => Promise.reject(new Error(`nginx ended: ${stderr}`)));
  over.catch(() => {});
  await Promise.race([over, until(() => listens(own))]);
  return { FILINGS_BASE_URL: `http://127.0.0.1:${own}`, FILINGS_API_KEY: 'added-by-the-proxy' };
}

test("runs behind the proxy of docs/recipes/nginx request each file once, with the proxy's key", async () => {
  const service = await startArchive(FILINGS, { tls: tlsWith('own-name') });
  const env = await startProxy(service.port);
  const place = await workplace();
  await writeFile(join(place.path, 'in'), NUMBERS.join('\n'));
  const line = ['download', '-i', 'in', '--all', '--quiet'];
  const runs = ['one', 'two'].map((directory) => place.start([...line, '-d', directory], env));
  for (const { ended } of runs) expect(await ended).toMatchObject({ exitCode: 0, stderr: '' });

  const paths = Object.entries(FILINGS).flatMap(([number, files]) =>
    Object.keys(files).map((name) => `${number}/${name}`),
  );
  for (const directory of ['one', 'two']) {
    expect(Object.keys(await treeOf(join(place.path, directory)))).toEqual(paths.sort());
  }
  expect([...service.asked()].sort()).toEqual([...NUMBERS, ...paths].sort());
  expect(new Set(service.requests.map(({ headers }) => headers.authorization))).toEqual(new Set([SERVICE_KEY]));
});
