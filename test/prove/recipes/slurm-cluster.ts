import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { started, until } from '../../cli/program.ts';
import { closedPort, listens } from '../../servers/scripted.ts';

const TASK = / ArrayTaskId=(\S*) .* JobState=(\S*) .* Restarts=(\S*) .* ExitCode=(\S*)/;

/** Starts a cluster of one node on this machine. Its daemons listen on loopback, and its files are in one directory. */
export async function startCluster() {
  const base = await mkdtemp(join(tmpdir(), 'filings-slurm-'));
  // The daemons may be outside the PATH of a user.
  const env = { PATH: `${process.env.PATH ?? ''}:/usr/sbin:/sbin`, SLURM_CONF: join(base, 'slurm.conf') };
  const daemons: ReturnType<typeof started>[] = [];
  const stop = async () => {
    for (const { kill, ended } of daemons.reverse()) {
      kill('SIGTERM');
      await ended;
    }
    await rm(base, { recursive: true, force: true, maxRetries: 5 });
  };
  /** Starts a daemon in the foreground and waits until it is ready. Throws its output if it ends earlier. */
  const start = async (command: readonly string[], isReady: () => boolean | Promise<boolean>) => {
    const daemon = started(command, { env });
    daemons.push(daemon);
    const over = daemon.ended.then(({ stderr }) => Promise.reject(new Error(`${command[0]} ended: ${stderr}`)));
    over.catch(() => {});
    await Promise.race([over, until(isReady)]);
  };
  /** Runs a command of Slurm. Returns its stdout. */
  const run = async (command: readonly string[], { env: more = {}, cwd = base } = {}) =>
    (await execa({ cwd, env: { ...env, ...more }, extendEnv: false })(command[0] ?? '', command.slice(1))).stdout;
  /** The tasks of a job as `INDEX STATE RESTARTS STATUS:SIGNAL`. The tasks that did not start are one entry. */
  const tasks = async (job: string) => {
    const lines = (await run(['scontrol', '--oneliner', 'show', 'job', job])).split('\n');
    const found = lines.map((line) => TASK.exec(line)?.slice(1).join(' ') ?? '').filter(Boolean);
    return found.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
  };
  try {
    const ports = [await closedPort(), await closedPort()] as const;
    await writeFile(env.SLURM_CONF, slurmConf(base, ports));
    for (const folder of ['state', 'spool']) await mkdir(join(base, folder));
    // munge signs Slurm's messages with a key of this cluster. munged requires directories that only its user can
    // write, and a socket that everybody can reach.
    await chmod(base, 0o755);
    await writeFile(join(base, 'munge.key-file'), randomBytes(128), { mode: 0o600 });
    const files = ['key-file', 'socket', 'pid-file', 'log-file', 'seed-file'];
    const options = files.map((file) => `--${file}=${join(base, `munge.${file}`)}`);
    await start(['munged', '--foreground', ...options], () => existsSync(join(base, 'munge.socket')));
    await start(['slurmctld', '-D'], () => listens(ports[0]));
    await start(['slurmd', '-D', '-N', 'n1'], () => listens(ports[1]));
    await until(async () => (await run(['sinfo', '-h', '-t', 'idle', '-o', '%D'])) === '1');
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    run,
    stop,
    /** Waits until no task of a job is running or waiting. Returns its tasks. */
    async over(job: string) {
      await until(async () => (await run(['squeue', '--noheader', '--jobs', job])) === '');
      return tasks(job);
    },
    /**
     * Waits until a task is requeued for the first time, and shortens its delay of two minutes. A node refuses a task
     * whose credential is of the second in which the node released it.
     */
    async requeued(task: string) {
      await until(async () => (await tasks(task)).some((each) => / PENDING 1 /.test(each)));
      await run(['scontrol', 'update', `JobId=${task}`, 'StartTime=now+2']);
    },
  };
}

const slurmConf = (base: string, [controller, node]: readonly [number, number]) => `
ClusterName=local
SlurmctldHost=${hostname()}(127.0.0.1)
SlurmctldPort=${controller}
SlurmUser=root
AuthInfo=socket=${base}/munge.socket
StateSaveLocation=${base}/state
SlurmdSpoolDir=${base}/spool
SlurmctldPidFile=${base}/slurmctld.pid
SlurmdPidFile=${base}/slurmd.pid
# The rest of a task is killed when its script has ended, as with cgroups.
ProctrackType=proctrack/pgid
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
RequeueExit=7
SchedulerParameters=batch_sched_delay=0,sched_interval=1
NodeName=n1 NodeHostname=${hostname()} NodeAddr=127.0.0.1 Port=${node} CPUs=8 RealMemory=8000
PartitionName=main Nodes=n1 Default=YES State=UP
`;
