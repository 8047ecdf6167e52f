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

const call = promisify(execFile);
/** Daemons are where a user's PATH need not lead. */
const PATHS = { PATH: `${process.env.PATH ?? ''}:/usr/sbin:/sbin` };

/** A cluster of two nodes on this machine: daemons on loopback, all their files in one directory. */
export interface SlurmCluster {
  /** Runs one of Slurm's commands; its stdout. */
  run(command: readonly string[], options?: { env?: Record<string, string>; cwd?: string }): Promise<string>;
  stop(): Promise<void>;
}

/** Starts the cluster, and waits until both nodes are idle. */
export async function startCluster(): Promise<SlurmCluster> {
  const base = await mkdtemp(join(tmpdir(), 'filings-slurm-'));
  const daemons: ChildProcess[] = [];
  const stop = async () => {
    for (const daemon of daemons.reverse()) await stopped(daemon);
    await rm(base, { recursive: true, force: true, maxRetries: 5 });
  };
  const env = { ...PATHS, SLURM_CONF: join(base, 'slurm.conf') };
  const run: SlurmCluster['run'] = async ([file = '', ...args], options = {}) =>
    (await call(file, args, { cwd: options.cwd ?? base, env: { ...env, ...options.env } })).stdout;
  try {
    const ports = [await closedPort(), await closedPort(), await closedPort()];
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
async function startMunge(base: string): Promise<ChildProcess> {
  // munged wants directories that nobody else can write, and a socket that everybody can reach.
  await chmod(base, 0o755);
  await writeFile(join(base, 'munge.key'), randomBytes(128), { mode: 0o600 });
  const files = ['key-file', 'socket', 'pid-file', 'log-file', 'seed-file'].map(
    (file) => `--${file}=${join(base, `munge.${file.split('-')[0]}`)}`,
  );
  return startDaemon(['munged', '--foreground', ...files], {}, () => existsSync(join(base, 'munge.socket')));
}

/** Starts a daemon in the foreground, and waits until it is ready; throws what it said when it ends before. */
export async function startDaemon(
  [file = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
  ready: () => boolean | Promise<boolean>,
): Promise<ChildProcess> {
  const child = spawn(file, args, { env: { ...PATHS, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      said += chunk;
    });
  }
  while (!(await ready())) {
    if (hasEnded(child)) throw new Error(`${file} ended with ${child.exitCode ?? child.signalCode}: ${said}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return child;
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

async function stopped(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** What Slurm knows of a task. */
export interface Task {
  readonly index: string;
  readonly state: string;
  /** `STATUS:SIGNAL`. */
  readonly exitCode: string;
  readonly restarts: number;
}

/** Waits until nothing of a job runs or waits any more; gives its tasks. Those that never began are one. */
export async function jobOver(cluster: SlurmCluster, job: string): Promise<Task[]> {
  await until(async () => (await cluster.run(['squeue', '--noheader', '--jobs', job])).trim() === '');
  return tasks(cluster, job);
}

/**
 * Waits until a task is back in the queue for the first time, and spares it most of the two minutes there. A node takes
 * no task again whose credential is of the second in which it gave the task up.
 */
export async function taskAgain(cluster: SlurmCluster, task: string): Promise<void> {
  const isBack = ({ state, restarts }: Task) => state === 'PENDING' && restarts === 1;
  await until(async () => (await tasks(cluster, task)).some(isBack));
  await cluster.run(['scontrol', 'update', `JobId=${task}`, 'StartTime=now+2']);
}

async function tasks(cluster: SlurmCluster, job: string): Promise<Task[]> {
  const text = await cluster.run(['scontrol', '--oneliner', 'show', 'job', job]);
  const field = (line: string, name: string) => new RegExp(`(?:^| )${name}=(\\S*)`).exec(line)?.[1] ?? '';
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({
      index: field(line, 'ArrayTaskId'),
      state: field(line, 'JobState'),
      exitCode: field(line, 'ExitCode'),
      restarts: Number(field(line, 'Restarts')),
    }))
    .sort((a, b) => Number.parseInt(a.index, 10) - Number.parseInt(b.index, 10));
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
