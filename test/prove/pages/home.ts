import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sleep } from '../../../src/abort.ts';
import { startSandbox } from '../../../src/sandbox/server.ts';
import { BIN, type Ended, NODE, run } from '../../cli/program.ts';
import type { CronJob } from './crontab.ts';
import { startExampleService } from './example-service.ts';

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
  cron(job: CronJob): Promise<Ended>;
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
  const example = await startExampleService(samples, KEY);
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
    async cron({ env, command, input }) {
      if (!existsSync(programs)) await linkPrograms(programs);
      return run(env.SHELL ?? '/bin/sh', ['-c', command], { cwd: path, env: { ...ofCron, ...env }, input });
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

/** Stands for cron's PATH, /usr/bin:/bin, where Node is not: wherever it is on this machine, many have it elsewhere. */
async function linkPrograms(folder: string): Promise<void> {
  await mkdir(folder);
  const found = new Map(
    ['/bin', '/usr/bin'].filter(existsSync).flatMap((at) => readdirSync(at).map((name) => [name, join(at, name)])),
  );
  for (const name of ['node', 'nodejs', 'npm', 'npx', 'filings']) found.delete(name);
  await Promise.all([...found].map(([name, target]) => symlink(target, join(folder, name))));
}
