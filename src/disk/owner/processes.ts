import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import type { Owner, RunningProcess } from './owner.ts';

/** A process as an owner, as far as it can be read: without /proc, or with a part of it, much is unknown. */
export function ownerOf(pid: number, hostname: string, platform: string): Owner {
  const machine = tryRead(() => readFileSync('/etc/machine-id', 'utf8')) ?? '';
  return {
    host: hostname === '' && machine === '' ? undefined : digest(`${hostname}\n${machine}`),
    boot: digested(() => bootOf(platform)),
    namespace: digested(() => (platform === 'darwin' ? 'none' : readlinkSync('/proc/self/ns/pid'))),
    pid,
    started: statusOf(pid, platform)?.started,
  };
}

/** The process that has a number in this run's own namespace; undefined when it is known that there is none. */
export function processAt(
  pid: number,
  platform: string,
  isRunning: (pid: number) => boolean,
): RunningProcess | undefined {
  const status = statusOf(pid, platform);
  if (status?.ended || !isRunning(pid)) return undefined;
  return { started: status?.started };
}

interface Status {
  /** In units of the platform's own. */
  readonly started: string;
  /** It only waits for its parent to look. */
  readonly ended: boolean;
}

function bootOf(platform: string): string {
  return platform === 'darwin'
    ? execFileSync('sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' })
    : readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
}

/** What the system says of a process; undefined when nothing can be read. */
function statusOf(pid: number, platform: string): Status | undefined {
  if (platform === 'darwin') {
    const started = tryRead(() => execFileSync('ps', ['-o', 'lstart=', '-p', `${pid}`], { encoding: 'utf8' }));
    return started?.trim() ? { started: digest(started), ended: false } : undefined;
  }
  const stat = procIsOurs() ? tryRead(() => readFileSync(`/proc/${pid}/stat`, 'utf8')) : undefined;
  // Counted from behind the command's name, which may hold anything: the state, field 20, the threads, and 22, the start.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  const [state = '', threads, start] = [fields[0], fields[17], fields[19]];
  if (start === undefined) return undefined;
  // A thread of a killed process may still be in a write when the first one has ended.
  return { started: Number(start).toString(36), ended: /^[ZX]/.test(state) && Number(threads) <= 1 };
}

/** /proc may be that of another process namespace, with other processes under our numbers. Linux tells one number a namespace. */
function procIsOurs(): boolean {
  const status = tryRead(() => readFileSync('/proc/self/status', 'utf8'));
  return /^NSpid:\s*\d+$/m.test(status ?? '');
}

function digested(read: () => string): string | undefined {
  const text = tryRead(read);
  return text?.trim() ? digest(text) : undefined;
}

/** In 32 bits (FNV-1a), from which nothing can be read back. To load node:crypto takes a twentieth of a small download. */
function digest(text: string): string {
  let bits = 0x811c9dc5;
  for (const byte of Buffer.from(text.trim())) bits = Math.imul(bits ^ byte, 0x01000193);
  return (bits >>> 0).toString(16).padStart(8, '0');
}

function tryRead(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
