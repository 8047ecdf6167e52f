import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sleep } from '../../../src/abort.ts';
import { openArchive } from '../../../src/sandbox/archive.ts';
import { createHandler } from '../../../src/sandbox/handler.ts';
import { startSandbox } from '../../../src/sandbox/server.ts';
import { BIN, type Ended, NODE, run } from '../../cli/program.ts';
import { certificatePath, tlsWith } from '../../servers/certificates.ts';
import { startProxy } from '../../servers/proxy.ts';

const KEY = 'key-of-the-page';
const samples = join(BIN, '../../samples');

/** The home of somebody who does what a page says, in its order: the program installed in it, a service that it knows. */
export interface Home {
  readonly path: string;
  /** Of a service over the sample filings; the config file of this home names it, until a page says another. */
  readonly serviceUrl: string;
  readonly key: string;
  /** Runs bash in it. */
  bash(script: string, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>;
  /** Runs what a line of its crontab says, as cron does. */
  cron(command: string, env?: Readonly<Record<string, string>>): Promise<Ended>;
  /** Links Node beside the program, as docs/cron.md says. */
  linkNode(): Promise<void>;
  /** Writes a file, and gives its path. */
  file(name: string, text: string, mode?: number): Promise<string>;
  remove(): Promise<void>;
}

export async function newHome(): Promise<Home> {
  const place = await mkdtemp(join(tmpdir(), 'filings-page-'));
  const [path, programs] = [join(place, 'home'), join(place, 'programs')];
  const service = await startService();
  const example = await startExampleService();
  const file = async (name: string, text: string, mode = 0o600) => {
    const at = join(path, name);
    await mkdir(dirname(at), { recursive: true });
    await writeFile(at, text);
    await chmod(at, mode);
    return at;
  };
  // Pages are read in a clone.
  await mkdir(path);
  await symlink(join(BIN, '../../docs'), join(path, 'docs'));
  // As an installation for one user does it; npm makes a link there.
  await file('.local/bin/filings', `#!/usr/bin/env node\nrequire(${JSON.stringify(BIN)});\n`, 0o755);
  await file('.config/filings/config.json', JSON.stringify({ baseUrl: service.url, apiKey: KEY }));
  const PATH = `${join(path, '.local/bin')}:${dirname(NODE)}:${process.env.PATH}`;
  // What crond(8) sets, and nothing else; the way to the service stands for the world's names and certificates.
  const ofCron = { HOME: path, LOGNAME: 'me', SHELL: '/bin/sh', PATH: programs, ...example.env };
  return {
    path,
    serviceUrl: service.url,
    key: KEY,
    bash(script, args, env) {
      const environment = { HOME: path, PATH, ...example.env, ...env };
      // Where they are asked for something, it is the key.
      return run('bash', ['--norc', ...args, '-c', script], { cwd: path, env: environment, input: `${KEY}\n` });
    },
    async cron(command, env) {
      if (!existsSync(programs)) await linkPrograms(programs);
      return run('/bin/sh', ['-c', command], { cwd: path, env: { ...ofCron, ...env } });
    },
    linkNode: () => symlink(NODE, join(path, '.local/bin/node')),
    file,
    async remove() {
      await Promise.all([service.close(), example.close()]);
      await rm(place, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function startService() {
  const options = { directory: samples, host: '127.0.0.1', port: 0, apiKey: KEY, jwtKeys: [] };
  return startSandbox({ ...options, now: Date.now, sleep, log: () => {} });
}

/**
 * The service that pages call https://api.example.com: the way to it is a proxy that leads there, whatever it is asked for,
 * and an authority that vouches for it.
 */
async function startExampleService() {
  const closing = new AbortController();
  const options = { host: 'api.example.com', apiKey: KEY, jwtKeys: [], now: Date.now, sleep };
  const handle = createHandler(await openArchive(samples), options, closing.signal);
  const server = createServer(tlsWith('api-example'), (request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = await startProxy((server.address() as AddressInfo).port);
  return {
    env: { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: certificatePath('api-example') },
    async close() {
      closing.abort();
      await proxy.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Stands for cron's PATH, /usr/bin:/bin, where Node is not: wherever it is on this machine, many have it elsewhere. */
async function linkPrograms(folder: string): Promise<void> {
  await mkdir(folder);
  const found = new Map(
    ['/bin', '/usr/bin'].filter(existsSync).flatMap((at) => readdirSync(at).map((name) => [name, join(at, name)])),
  );
  for (const name of ['node', 'nodejs', 'npm', 'npx', 'filings']) found.delete(name);
  await Promise.all([...found].map(([name, target]) => symlink(target, join(folder, name))));
}
