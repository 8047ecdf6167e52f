import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { listens } from '../../servers/scripted.ts';
import { freePorts, missing, PATHS, startDaemon } from './daemons.ts';
import { endTree } from './process-tree.ts';

const call = promisify(execFile);

/** Hosts that ssh reaches: an sshd each on loopback, keys of their own, the user who runs the tests. */
export interface SshHosts {
  /** What makes `parallel` find them. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends a host: its sshd, and all that runs below it, as when its power fails. */
  kill(name: string): Promise<void>;
  /** Starts a host again. */
  revive(name: string): Promise<void>;
}

/** Why there can be no hosts here; empty when there can. */
export function noHosts(): string {
  const absent = missing(['parallel', 'ssh', 'sshd', 'ssh-keygen']);
  return absent.length > 0 ? `not installed: ${absent.join(', ')}` : '';
}

type Environment = Readonly<Record<string, string>>;

/** Starts hosts, until the test has ended; what is run on one has its environment beside that of a login. */
export async function startHosts(environments: Readonly<Record<string, Environment>>): Promise<SshHosts> {
  const names = Object.keys(environments);
  const base = await mkdtemp(join(tmpdir(), 'filings-ssh-'));
  for (const key of ['host', 'user'])
    await call('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(base, key)]);
  await writeFile(join(base, 'authorized_keys'), await readFile(join(base, 'user.pub')));
  const ports = new Map((await freePorts(names.length)).map((port, at) => [names[at] ?? '', port]));
  const publicKey = (await readFile(join(base, 'host.pub'), 'utf8')).trim();
  await writeFile(
    join(base, 'known_hosts'),
    [...ports.values()].map((port) => `[127.0.0.1]:${port} ${publicKey}\n`).join(''),
  );
  await writeFile(join(base, 'ssh_config'), [...ports].map(([name, port]) => clientConfig(base, name, port)).join(''));
  const madeRunFolder = await privilegeSeparation();
  const running = new Map<string, number>();
  const revive = async (name: string) => {
    const port = ports.get(name) ?? 0;
    await writeFile(join(base, `${name}.sshd`), daemonConfig(base, port, environments[name] ?? {}));
    // sshd starts itself anew for each connection, and so wants its whole path.
    const daemon = await startDaemon([await sshdPath(), '-D', '-e', '-f', join(base, `${name}.sshd`)], {}, () =>
      listens(port),
    );
    running.set(name, daemon.pid);
  };
  const kill = async (name: string) => {
    await endTree(running.get(name) ?? 0);
    running.delete(name);
  };
  const stop = async () => {
    for (const name of running.keys()) await kill(name);
    await rm(base, { recursive: true, force: true, maxRetries: 5 });
    if (madeRunFolder) await rm(RUN_FOLDER, { recursive: true, force: true });
  };
  onTestFinished(stop);
  for (const name of names) await revive(name);
  return { env: { PARALLEL_SSH: `ssh -F ${join(base, 'ssh_config')}` }, kill, revive };
}

const RUN_FOLDER = '/run/sshd';

/** sshd of root does not start without this folder, which its service makes; says whether it was made here. */
async function privilegeSeparation(): Promise<boolean> {
  if (process.getuid?.() !== 0 || existsSync(RUN_FOLDER)) return false;
  await mkdir(RUN_FOLDER, { mode: 0o755 });
  return true;
}

async function sshdPath(): Promise<string> {
  return (await call('sh', ['-c', 'command -v sshd'], { env: PATHS })).stdout.trim();
}

const clientConfig = (base: string, name: string, port: number) => `Host ${name}
  HostName 127.0.0.1
  Port ${port}
  User ${userInfo().username}
  IdentityFile ${base}/user
  IdentitiesOnly yes
  UserKnownHostsFile ${base}/known_hosts
  BatchMode yes
  ConnectTimeout 10
`;

const daemonConfig = (base: string, port: number, env: Environment) => `ListenAddress 127.0.0.1
Port ${port}
HostKey ${base}/host
AuthorizedKeysFile ${base}/authorized_keys
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
MaxStartups 100
PermitRootLogin prohibit-password
SetEnv ${Object.entries(env)
  .map(([name, value]) => `"${name}=${value}"`)
  .join(' ')}
`;
