import { until } from '../../cli/program.ts';
import type { SlurmCluster } from './slurm-cluster.ts';

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
