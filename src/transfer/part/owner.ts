import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { PART_SUFFIX_BYTES } from '../../disk/file-name.ts';

/** As a part's name says. */
export interface Owner {
  /** A digest of host, boot and process namespace. */
  readonly machine: string;
  readonly pid: number;
  /** In units of the platform's own, since numbers of processes come again; or `UNKNOWN`. */
  readonly started: string;
}

const UNKNOWN = '_';

/** When a process of this run's own namespace started, or `UNKNOWN`; undefined: there is none. */
type StartOf = (pid: number) => string | undefined;

export type OwnerState = 'alive' | 'ended' | 'unknown';

/**
 * An undefined owner could not be read, and is never taken for the same nor for another. Only another start proves that
 * it is another process.
 */
export function stateOf(owner: Owner | undefined, self: Owner | undefined, startOf: StartOf): OwnerState {
  if (owner === undefined || owner.machine !== self?.machine) return 'unknown';
  const started = startOf(owner.pid);
  if (started === undefined) return 'ended';
  return started === owner.started || [started, owner.started].includes(UNKNOWN) ? 'alive' : 'ended';
}

/** Undefined without /proc, or with a part of it. */
export function ownerOf(pid: number, hostname: string, platform: string): Owner | undefined {
  const machine = tryRead(() => machineOf(hostname, platform));
  return machine === undefined ? undefined : { machine, pid, started: statusOf(pid, platform)?.started ?? UNKNOWN };
}

/** `isRunning` is true, too, when that can't be told. */
export function startsOf(platform: string, isRunning: (pid: number) => boolean): StartOf {
  return (pid) => {
    const { started = UNKNOWN, hasEnded = false } = statusOf(pid, platform) ?? {};
    return hasEnded || !isRunning(pid) ? undefined : started;
  };
}

function machineOf(hostname: string, platform: string): string | undefined {
  if (platform === 'darwin') {
    return digest(`${hostname}\n${execFileSync('sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' })}`);
  }
  // /proc may be another process namespace's, with other processes under our numbers: it tells one number a namespace.
  if (!/^NSpid:\s*\d+$/m.test(readFileSync('/proc/self/status', 'utf8'))) return undefined;
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
  return digest(`${hostname}\n${boot}${readlinkSync('/proc/self/ns/pid')}`);
}

/** A process has ended, too, when it only waits for its parent to look. */
function statusOf(pid: number, platform: string): { started: string; hasEnded: boolean } | undefined {
  if (platform === 'darwin') {
    const started = tryRead(() => execFileSync('ps', ['-o', 'lstart=', '-p', `${pid}`], { encoding: 'utf8' }));
    return started?.trim() ? { started: digest(started), hasEnded: false } : undefined;
  }
  const stat = tryRead(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // Behind the command's name, which may hold anything: the state, the threads (field 20), the start (22).
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  const [state = '', threads, start] = [fields[0], fields[17], fields[19]];
  if (start === undefined) return undefined;
  // A thread of a killed process may still be in a write when the first one has ended.
  return { started: Number(start).toString(36), hasEnded: /^[ZX]/.test(state) && Number(threads) <= 1 };
}

function digest(text: string): string {
  return hash('sha256', text).slice(0, 16);
}

function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** `part`: the bytes; `lock`: a part that is about to get its final name; `resume`: the record beside a part. */
export interface PartName {
  readonly name: string;
  readonly kind: 'part' | 'lock' | 'resume';
  readonly stem: string;
  readonly id: string;
  /** Of a record nobody, so that it stays whoever takes the part over. */
  readonly owner: Owner | undefined;
}

const LONGEST_NAME_BYTES = 255;
/** `MACHINE-PID-STARTED`: 16 hexadecimal digits, two numbers in base 36; an underscore is unknown. */
const OWNED = /^\.(.+)\.(?:([0-9a-f]{16})-([0-9a-z]{1,7})-([0-9a-z]{1,16}|_)|_)\.([0-9a-z]{8})\.(part|lock)$/s;
const RECORD = /^\.(.+)\.([0-9a-z]{8})\.resume$/s;

/** The name itself in its parts' names, or a digest where `-o` chose a very long one. */
export function stemOf(final: string): string {
  const fits = Buffer.byteLength(final) + PART_SUFFIX_BYTES <= LONGEST_NAME_BYTES;
  return fits ? final : `long-${digest(final)}`;
}

/** To take a part over is one rename to another owner's name. */
export function partName(stem: string, owner: Owner | undefined, id: string, kind: 'part' | 'lock' = 'part'): string {
  const text = owner ? `${owner.machine}-${owner.pid.toString(36)}-${owner.started}` : UNKNOWN;
  return `.${stem}.${text}.${id}.${kind}`;
}

export function recordName(stem: string, id: string): string {
  return `.${stem}.${id}.resume`;
}

/** `random` is in [0, 1). */
export function newId(random: number): string {
  return random.toString(36).slice(2, 10).padEnd(8, '0');
}

export function parsePartName(name: string): PartName | undefined {
  const [, stem, machine, pid = '', started = '', id, kind] = OWNED.exec(name) ?? [];
  if (stem !== undefined && id !== undefined) {
    const owner = machine === undefined ? undefined : { machine, pid: Number.parseInt(pid, 36), started };
    return { name, kind: kind === 'lock' ? 'lock' : 'part', stem, id, owner };
  }
  const [, ofStem, ofId] = RECORD.exec(name) ?? [];
  if (ofStem === undefined || ofId === undefined) return undefined;
  return { name, kind: 'resume', stem: ofStem, id: ofId, owner: undefined };
}
