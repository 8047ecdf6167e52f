import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';

/** A part of another machine is taken for abandoned after this long without a change. */
const ABANDONED_MS = 86_400_000;

/**
 * Who a part file belongs to: machine, boot, pid namespace, process, and the
 * process's start, since process ids come again. Written into the part's name, so
 * that a sweeper needs no second file.
 */
export interface Owner {
  readonly host: string;
  readonly boot: string;
  readonly namespace: string;
  readonly pid: number;
  readonly started: string;
}

export type Standing = 'alive' | 'dead' | 'dead-since-reboot';

/** The names an owner goes by: `HOST-BOOT-NAMESPACE-PID-STARTED`, 8+8+8 hexadecimal digits and two numbers in base 36. */
export function ownerText(owner: Owner): string {
  return [owner.host, owner.boot, owner.namespace, owner.pid.toString(36), owner.started].join('-');
}

export const OWNER_PATTERN = '[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-z]{1,7}-[0-9a-z]{1,13}';

export function parseOwner(text: string): Owner | undefined {
  if (!new RegExp(`^${OWNER_PATTERN}$`).test(text)) return undefined;
  const [host = '', boot = '', namespace = '', pid = '', started = ''] = text.split('-');
  return { host, boot, namespace, pid: Number.parseInt(pid, 36), started };
}

/** This process as an owner. */
export function thisOwner(hostname: string, pid: number, platform: string): Owner {
  const machine = tryRead(() => readFileSync('/etc/machine-id', 'utf8'));
  const boot =
    platform === 'darwin'
      ? tryRead(() => execFileSync('sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' }))
      : tryRead(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
  return {
    host: digest(`${hostname}\n${machine ?? ''}`),
    boot: digest(boot ?? ''),
    namespace: digest(tryRead(() => readlinkSync('/proc/self/ns/pid')) ?? ''),
    pid,
    started: startOf(pid, platform) ?? '0',
  };
}

/**
 * Whether an owner can still be writing. Known for processes of this machine and pid
 * namespace; others are given a day since the part's last change (milliseconds).
 */
export function standingOf(owner: Owner, self: Owner, platform: string, unchangedMs: number): Standing {
  if (owner.host !== self.host) return unchangedMs > ABANDONED_MS ? 'dead' : 'alive';
  if (owner.boot !== self.boot) return 'dead-since-reboot';
  if (owner.namespace !== self.namespace) return unchangedMs > ABANDONED_MS ? 'dead' : 'alive';
  return startOf(owner.pid, platform) === owner.started ? 'alive' : 'dead';
}

/** When a process started, in units of the platform's own; undefined when there is none. */
function startOf(pid: number, platform: string): string | undefined {
  if (platform === 'darwin') {
    const started = tryRead(() => execFileSync('ps', ['-o', 'lstart=', '-p', `${pid}`], { encoding: 'utf8' }));
    return started?.trim() ? digest(started.trim()) : undefined;
  }
  const stat = tryRead(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // Counted from behind the command's name, which may hold anything: the state, and field 22, the start.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (!fields || /^[ZX]/.test(fields[0] ?? '')) return undefined;
  return Number(fields[19]).toString(36);
}

function digest(text: string): string {
  return createHash('sha256').update(text.trim()).digest('hex').slice(0, 8);
}

function tryRead(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
