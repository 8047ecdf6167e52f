import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import type { World } from '../../world.ts';

/** How long a process may take to end once it was asked to. */
const GRACE_MS = 500;

/**
 * Ends a child and what it has started, by force where asking is not enough; resolves when the child is gone.
 * Not as a process group: that would take the terminal from a program that asks for a password there.
 */
export async function endProcess(child: ChildProcess, { kill }: Pick<World, 'kill'>): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const family = [child.pid, ...descendants(child.pid)];
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const pid of family) sendTo(pid, signal, kill);
    if (await isGoneWithin(GRACE_MS, child)) return;
  }
}

function isGoneWithin(ms: number, child: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, false);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

function sendTo(pid: number, signal: NodeJS.Signals, kill: World['kill']): void {
  try {
    kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}

/** On Linux; elsewhere nobody tells. */
function descendants(pid: number): readonly number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const children = threads
      .flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' '))
      .filter(Boolean)
      .map(Number);
    return children.flatMap((child) => [child, ...descendants(child)]);
  } catch {
    return [];
  }
}
