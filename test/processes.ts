import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { getCurrentTest } from 'vitest/suite';

/** Kills a process that still runs when the test has ended, and what it has started: a test may have timed out. */
export function endWithTest(child: Pick<ChildProcess, 'pid' | 'exitCode' | 'signalCode'>): void {
  const { pid } = child;
  // In a hook there is no test.
  if (pid === undefined || getCurrentTest() === undefined) return;
  onTestFinished(() => {
    // The number of a process that has ended may be another one's.
    if (child.exitCode !== null || child.signalCode !== null) return;
    for (const each of familyOf(pid)) kill(each);
  });
}

/** Returns a process and its descendants; elsewhere than on Linux the process alone. */
function familyOf(pid: number): readonly number[] {
  let children = '';
  try {
    children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  } catch {
    // It has ended, or there is no /proc.
  }
  return [
    pid,
    ...children
      .split(' ')
      .filter(Boolean)
      .flatMap((child) => familyOf(Number(child))),
  ];
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
