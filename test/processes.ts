import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { getCurrentTest } from 'vitest/suite';

/** Kills a process and its descendants if they still run at the end of the test, which may have timed out. */
export function endWithTest(child: Pick<ChildProcess, 'pid' | 'exitCode' | 'signalCode'>): void {
  const { pid } = child;
  // A hook runs outside a test.
  if (pid === undefined || getCurrentTest() === undefined) return;
  onTestFinished(() => {
    // The PID of a process that has ended may belong to another process.
    if (child.exitCode !== null || child.signalCode !== null) return;
    for (const each of familyOf(pid)) kill(each);
  });
}

/** Returns a PID and those of its descendants. On systems other than Linux it returns the PID alone. */
function familyOf(pid: number): readonly number[] {
  let children = '';
  try {
    children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  } catch {
    // The process has ended, or the system has no /proc.
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
    // The process has ended.
  }
}
