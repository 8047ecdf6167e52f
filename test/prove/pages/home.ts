import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { answer, type ErrorAnswer, sendErrorAnswer } from '../../../src/sandbox/service.ts';
import { BIN, NODE, run } from '../../cli/program.ts';
import { certificatePath, tlsWith } from '../../servers/certificates.ts';
import { startProxy } from '../../servers/proxy.ts';

/** The key for the service that pages call https://api.example.com. */
export const KEY = 'key-of-the-page';

export type Home = Awaited<ReturnType<typeof newHome>>;

/**
 * Creates the home of a user who follows a page. The program is installed, and the config file names a service. `more`
 * has further variables of the user's shell.
 */
export async function newHome(more: Readonly<Record<string, string>> = {}) {
  const place = await mkdtemp(join(tmpdir(), 'filings-page-'));
  const [path, programs] = [join(place, 'home'), join(place, 'programs')];
  const service = await startService();
  /** Writes a file. Returns its path. */
  const file = async (name: string, text: string, mode = 0o600) => {
    const at = join(path, name);
    await mkdir(dirname(at), { recursive: true });
    await writeFile(at, text);
    await chmod(at, mode);
    return at;
  };
  // A page is read in a clone of the repository.
  await mkdir(path);
  await symlink(join(BIN, '../../docs'), join(path, 'docs'));
  // npm creates a link here in an installation for one user.
  await file('.local/bin/filings', `#!/usr/bin/env node\nrequire(${JSON.stringify(BIN)});\n`, 0o755);
  await file('.config/filings/config.json', JSON.stringify({ baseUrl: 'https://api.example.com', apiKey: KEY }));
  const PATH = `${join(path, '.local/bin')}:${dirname(NODE)}:${process.env.PATH}`;
  return {
    path,
    file,
    /** The proxy and the authority that lead to the service. */
    env: service.env,
    /** Runs bash in the home. */
    bash(script: string, args: readonly string[]) {
      // The input for prompts is the key.
      const options = { cwd: path, env: { HOME: path, PATH, ...service.env, ...more }, input: `${KEY}\n` };
      return run('bash', ['--norc', ...args, '-c', script], options);
    },
    /** Runs a command of the crontab as cron does, with only the variables that crond(8) sets. */
    async cron(command: string, env: Readonly<Record<string, string>> = {}) {
      if (!existsSync(programs)) await linkPrograms(programs);
      const ofCron = { HOME: path, LOGNAME: 'me', SHELL: '/bin/sh', PATH: programs };
      return run('/bin/sh', ['-c', command], { cwd: path, env: { ...ofCron, ...service.env, ...env } });
    },
    /** Links Node beside the program, as docs/cron.md says. */
    linkNode: () => symlink(NODE, join(path, '.local/bin/node')),
    async remove() {
      await service.close();
      await rm(place, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/**
 * Starts a service with the sample filings, a proxy that leads every host to it, and an authority that its certificate
 * is from.
 */
async function startService() {
  const options = {
    directory: join(BIN, '../../samples'),
    platform: process.platform,
    host: 'api.example.com',
    apiKey: KEY,
    jwtKeys: [],
    now: Date.now,
  };
  const server = createServer(tlsWith('api-example'), (request, response) => {
    answer(request, response, options).catch((refusal: ErrorAnswer) => sendErrorAnswer(response, refusal, 'page'));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const proxy = await startProxy((server.address() as AddressInfo).port);
  return {
    env: { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: certificatePath('api-example') },
    async close() {
      await proxy.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Links the programs of cron's PATH, /usr/bin:/bin, except Node, because many machines have Node elsewhere. */
async function linkPrograms(folder: string): Promise<void> {
  await mkdir(folder);
  const found = new Map(
    ['/bin', '/usr/bin'].filter(existsSync).flatMap((at) => readdirSync(at).map((name) => [name, join(at, name)])),
  );
  for (const name of ['node', 'nodejs', 'npm', 'npx', 'filings']) found.delete(name);
  await Promise.all([...found].map(([name, target]) => symlink(target, join(folder, name))));
}
