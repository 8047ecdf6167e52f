import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { listens } from '../../servers/scripted.ts';
import { type Daemon, freePorts, missing, PATHS, startDaemon } from './daemons.ts';

const call = promisify(execFile);

/** A cluster of two nodes on this machine: daemons on loopback, all their files in one directory. */
export interface SlurmCluster {
  /** Runs one of Slurm's commands; its stdout. */
  run(command: readonly string[], options?: { env?: Record<string, string>; cwd?: string }): Promise<string>;
  stop(): Promise<void>;
}

/** Why there can be no cluster here; empty when there can. */
export function noCluster(): string {
  const absent = missing(['munged', 'slurmctld', 'slurmd', 'sbatch']);
  if (absent.length > 0) return `not installed: ${absent.join(', ')}`;
  return process.getuid?.() === 0 ? '' : 'only root can start the daemons';
}

/** Starts the cluster, and waits until both nodes are idle. */
export async function startCluster(): Promise<SlurmCluster> {
  const base = await mkdtemp(join(tmpdir(), 'filings-slurm-'));
  const daemons: Daemon[] = [];
  const stop = async () => {
    for (const daemon of daemons.reverse()) await daemon.stop();
    await rm(base, { recursive: true, force: true, maxRetries: 5 });
  };
  const env = { ...PATHS, SLURM_CONF: join(base, 'slurm.conf') };
  const run: SlurmCluster['run'] = async ([file = '', ...args], options = {}) =>
    (await call(file, args, { cwd: options.cwd ?? base, env: { ...env, ...options.env } })).stdout;
  try {
    const ports = await freePorts(3);
    await writeFile(env.SLURM_CONF, slurmConf(base, ports));
    for (const folder of ['state', 'spool-n1', 'spool-n2']) await mkdir(join(base, folder));
    daemons.push(await startMunge(base));
    daemons.push(await startDaemon(['slurmctld', '-D'], env, () => listens(ports[0] ?? 0)));
    for (const [at, node] of ['n1', 'n2'].entries()) {
      daemons.push(await startDaemon(['slurmd', '-D', '-N', node], env, () => listens(ports[at + 1] ?? 0)));
    }
    while ((await run(['sinfo', '-h', '-t', 'idle', '-o', '%D'])).trim() !== '2') {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return { run, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Slurm's messages are signed by munge, with a key of this cluster's own. */
async function startMunge(base: string): Promise<Daemon> {
  // munged wants directories that nobody else can write, and a socket that everybody can reach.
  await chmod(base, 0o755);
  await writeFile(join(base, 'munge.key'), randomBytes(128), { mode: 0o600 });
  const files = ['key-file', 'socket', 'pid-file', 'log-file', 'seed-file'].map(
    (file) => `--${file}=${join(base, `munge.${file.split('-')[0]}`)}`,
  );
  return startDaemon(['munged', '--foreground', ...files], {}, () => existsSync(join(base, 'munge.socket')));
}

const slurmConf = (base: string, [controller, first, second]: readonly (number | undefined)[]) => `
ClusterName=local
SlurmctldHost=${hostname()}(127.0.0.1)
SlurmctldPort=${controller}
SlurmUser=root
SlurmdUser=root
AuthInfo=socket=${base}/munge.socket
StateSaveLocation=${base}/state
SlurmdSpoolDir=${base}/spool-%n
SlurmctldPidFile=${base}/slurmctld.pid
SlurmdPidFile=${base}/%n.pid
# As with cgroups, what is left of a task when its script has ended is killed.
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
RequeueExit=7
SchedulerParameters=batch_sched_delay=0,sched_interval=1
NodeName=n1 NodeHostname=${hostname()} NodeAddr=127.0.0.1 Port=${first} CPUs=4 RealMemory=4000
NodeName=n2 NodeHostname=${hostname()} NodeAddr=127.0.0.1 Port=${second} CPUs=4 RealMemory=4000
PartitionName=main Nodes=n1,n2 Default=YES State=UP
`;
