import { readdir, readFile } from 'node:fs/promises';
import { until } from '../../cli/program.ts';

/** Kills a process and all that descends from it, and waits until they are gone. They are held first, so that none begins another meanwhile. */
export async function endTree(root: number): Promise<void> {
  const tree = [root];
  for (let held = 0; held < tree.length; held += 1) {
    signal(tree[held] ?? 0, 'SIGSTOP');
    tree.push(...(await childrenOf(tree[held] ?? 0)));
  }
  for (const pid of tree) signal(pid, 'SIGKILL');
  await until(async () => (await Promise.all(tree.map(isGone))).every((gone) => gone));
}

/** Sends a signal to a process, if it is still there. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended by itself.
  }
}

async function childrenOf(pid: number): Promise<number[]> {
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const parents = await Promise.all(
    all.map(async (name) => [Number(name), (await stat(Number(name)))?.parent] as const),
  );
  return parents.filter(([, parent]) => parent === pid).map(([child]) => child);
}

/** Whether it runs no more; what nobody has waited for yet counts as gone. */
async function isGone(pid: number): Promise<boolean> {
  const state = (await stat(pid))?.state;
  return state === undefined || state === 'Z' || state === 'X';
}

/** State and parent, from behind the name in /proc/PID/stat, which may hold anything. */
async function stat(pid: number): Promise<{ state: string; parent: number } | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  const [state = '', parent] = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? [];
  return text === undefined ? undefined : { state, parent: Number(parent) };
}
