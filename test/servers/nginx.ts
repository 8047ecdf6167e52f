import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { started, until } from '../cli/program.ts';
import { certificatePath } from './certificates.ts';
import { closedPort, listens } from './scripted.ts';

// As on a machine of its own: neither the flushes of the runs that it serves nor their work hold it up.
const MEMORY = '/dev/shm';
const RECIPE = join(import.meta.dirname, '../../docs/recipes/nginx/nginx.conf');
/** What the proxy adds, and nobody else has. */
export const SERVICE_KEY = 'the-key-of-the-proxy-alone';

// Debian keeps it where a user's PATH does not look.
const env = { PATH: `${process.env.PATH}:/usr/sbin` };

/** Why a test is skipped, for its title; empty where nginx is there. */
export const NO_NGINX = ((): string => {
  try {
    execFileSync('nginx', ['-v'], { stdio: 'ignore', env });
    return '';
  } catch {
    return ' (skipped: there is no nginx here)';
  }
})();

type Changes = readonly (readonly [from: string, to: string])[];

/**
 * nginx with the recipe's configuration, word by word but for paths, addresses, names and what the test changes; stops
 * when the test has ended. `port` is the service's, on this machine, over TLS.
 */
export async function startProxy(port: number, changes: Changes = []) {
  const place = await mkdtemp(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'filings-nginx-'));
  onTestFinished(() => rm(place, { recursive: true, force: true, maxRetries: 5 }));
  for (const name of ['etc', 'run', 'log', 'cache']) await mkdir(join(place, name));
  await writeFile(join(place, 'etc/key.conf'), `proxy_set_header Authorization "${SERVICE_KEY}";\n`, { mode: 0o600 });
  const own = await closedPort();
  const conf = join(place, 'etc/nginx.conf');
  const text = adapted(await readFile(RECIPE, 'utf8'), [
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
    ...changes,
  ]);
  await writeFile(conf, text);
  const { ended, kill } = started(
    ['nice', '-n', '-20', 'nginx', '-c', conf, '-e', join(place, 'log/error.log'), '-g', 'daemon off;'],
    {
      env,
    },
  );
  onTestFinished(async () => {
    kill('SIGTERM');
    await ended;
  });
  const over = ended.then(({ stderr }) => Promise.reject(new Error(`nginx ended: ${stderr}`)));
  over.catch(() => {});
  await Promise.race([over, until(() => listens(own))]);
  return {
    /** A machine's environment, as the recipe tells it: there is no key in it. */
    env: { FILINGS_BASE_URL: `http://127.0.0.1:${own}`, FILINGS_API_KEY: 'added-by-the-proxy' },
    log: (name: 'error' | 'spent') => readFile(join(place, `log/${name}.log`), 'utf8'),
  };
}

/** Every change has something to change: a recipe that was edited can't slip past. */
function adapted(text: string, changes: Changes): string {
  return changes.reduce((held, [from, to]) => {
    if (!held.includes(from)) throw new Error(`the recipe has no ${from}`);
    return held.replaceAll(from, to);
  }, text);
}
