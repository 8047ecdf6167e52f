import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '../../cli/program.ts';
import { closedPort, listens } from '../../servers/scripted.ts';

/** A cluster of two nodes on this machine. Its daemons listen on loopback, and its files are in one directory. */
export type SlurmCluster = Awaited<ReturnType<typeof startCluster>>;

/** Starts the cluster and waits until both nodes are idle. */
export async function startCluster() {
  const base = await mkdtemp(join(tmpdir(), 'filings-slurm-'));
  // The daemons may be outside the PATH of a user.
  const env = { PATH: `${process.env.PATH ?? ''}:/usr/sbin:/sbin`, SLURM_CONF: join(base, 'slurm.conf') };
  const daemons: ChildProcess[] = [];
  const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;
  const stop = async () => {
    for (const daemon of daemons.reverse()) {
      if (hasEnded(daemon)) continue;
      daemon.kill('SIGTERM');
      await once(daemon, 'exit');
    }
    await rm(base, { recursive: true, force: true, maxRetries: 5 });
  };
  /** Starts a daemon in the foreground and waits until it is ready. Throws its output if it ends earlier. */
  const start = async ([file = '', ...args]: readonly string[], isReady: () => boolean | Promise<boolean>) => {
    const daemon = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    daemons.push(daemon);
    const output: Buffer[] = [];
    for (const stream of [daemon.stdout, daemon.stderr]) stream.on('data', (chunk) => output.push(chunk));
    await until(async () => {
      if (hasEnded(daemon)) throw new Error(`${file} ended: ${Buffer.concat(output)}`);
      return isReady();
    });
  };
  /** Runs a command of Slurm. Returns its stdout. */
  const run = async ([file = '', ...args]: readonly string[], options: { env?: object; cwd?: string } = {}) => {
    const { stdout } = await promisify(execFile)(file, args, {
      cwd: base,
      ...options,
      env: { ...env, ...options.env },
    });
    return stdout.trim();
  };
  try {
    const ports = await Promise.all([closedPort(), closedPort(), closedPort()]);
    await writeFile(env.SLURM_CONF, slurmConf(base, ports));
    for (const folder of ['state', 'spool-n1', 'spool-n2']) await mkdir(join(base, folder));
    // munge signs Slurm's messages with a key of this cluster. munged requires directories that only its user can
    // write, and a socket that everybody can reach.
    await chmod(base, 0o755);
    await writeFile(join(base, 'munge.key'), randomBytes(128), { mode: 0o600 });
    const files = ['key', 'socket', 'pid', 'log', 'seed'].map(
      (file) => `--${file}${file === 'socket' ? '' : '-file'}=${join(base, `munge.${file}`)}`,
    );
    await start(['munged', '--foreground', ...files], () => existsSync(join(base, 'munge.socket')));
    await start(['slurmctld', '-D'], () => listens(ports[0]));
    await start(['slurmd', '-D', '-N', 'n1'], () => listens(ports[1]));
    await start(['slurmd', '-D', '-N', 'n2'], () => listens(ports[2]));
    await until(async () => (await run(['sinfo', '-h', '-t', 'idle', '-o', '%D'])) === '2');
    return { run, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Waits until no task of a job is running or waiting. Returns its tasks. The tasks that did not start are one entry.
 */
export async function jobOver(cluster: SlurmCluster, job: string) {
  await until(async () => (await cluster.run(['squeue', '--noheader', '--jobs', job])) === '');
  return tasks(cluster, job);
}

/**
 * Waits until a task is requeued for the first time, and shortens its delay of two minutes. A node refuses a task whose
 * credential is of the second in which the node released it.
 */
export async function taskAgain(cluster: SlurmCluster, task: string): Promise<void> {
  await until(async () =>
    (await tasks(cluster, task)).some(({ state, restarts }) => state === 'PENDING' && restarts === 1),
  );
  await cluster.run(['scontrol', 'update', `JobId=${task}`, 'StartTime=now+2']);
}

/** The tasks of a job. An exit code is `STATUS:SIGNAL`. */
async function tasks(cluster: SlurmCluster, job: string) {
  const lines = (await cluster.run(['scontrol', '--oneliner', 'show', 'job', job])).split('\n').filter(Boolean);
  const field = (line: string, name: string) => new RegExp(`(?:^| )${name}=(\\S*)`).exec(line)?.[1] ?? '';
  return lines
    .map((line) => ({
      index: field(line, 'ArrayTaskId'),
      state: field(line, 'JobState'),
      exitCode: field(line, 'ExitCode'),
      restarts: Number(field(line, 'Restarts')),
    }))
    .sort((a, b) => Number.parseInt(a.index, 10) - Number.parseInt(b.index, 10));
}

const slurmConf = (base: string, [controller, first, second]: readonly [number, number, number]) => `
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
# The rest of a task is killed when its script has ended, as with cgroups.
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
