// Names the parts of a run so that other runs can see whether the run that owns a part has ended. Takes the machine and
// the process; gives the names, and the state of the owner of another part.
import { hash } from 'node:crypto';
import { PART_SUFFIX_BYTES } from '../../disk/file-name.ts';
import type { World } from '../../world.ts';

/** The process that owns a part, from the name of the part. */
export interface Owner {
  /** A digest that identifies the machine, its boot and its process namespace. */
  readonly machine: string;
  readonly pid: number;
  /** The start time of the process in units of the platform, because PIDs are reused; or `UNKNOWN`. */
  readonly startTime: string;
}

/** This run as an owner. */
export interface Self extends Owner {
  /** Other digests under which runs of the same boot may have named this machine. */
  readonly aliases: readonly string[];
}

export type ProcessInfo = Pick<World, 'hostname' | 'platform' | 'isRunning' | 'now' | 'system'>;

const UNKNOWN = '_';

/** Returns the start time of a process, or `UNKNOWN`. Returns undefined if no such process exists. */
type ReadStart = (pid: number) => string | undefined;

/** The state of the run that owns a part. A part of an unknown owner is removed only when it is old. */
export type OwnerState = 'alive' | 'ended' | 'unknown';

/** On Windows the boot time is computed, so it may differ by these seconds between two runs. */
const BOOT_TOLERANCE_SECONDS = [-2, -1, 1, 2];
/** The output of `ps` depends on both. */
const PS_ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC0' };

/**
 * Returns the state of the run that owns a part. An owner that is undefined or of another machine is unknown. A
 * different start time means that the PID was reused, so the run has ended.
 */
export function stateOf(owner: Owner | undefined, self: Self | undefined, readStart: ReadStart): OwnerState {
  const isHere = owner !== undefined && self !== undefined && [self.machine, ...self.aliases].includes(owner.machine);
  if (!isHere) return 'unknown';
  const startTime = readStart(owner.pid);
  if (startTime === undefined) return 'ended';
  return startTime === owner.startTime || [startTime, owner.startTime].includes(UNKNOWN) ? 'alive' : 'ended';
}

/**
 * Returns this run as an owner, or undefined if the machine, its boot or its process namespace cannot be identified.
 */
export function identifySelf(pid: number, info: ProcessInfo): Self | undefined {
  const [machine, ...aliases] = tryRead(() => identifyMachine(info)) ?? [];
  return machine === undefined
    ? undefined
    : { machine, pid, startTime: statusOf(pid, info)?.startTime ?? UNKNOWN, aliases };
}

/** Returns a function that reads start times. A process whose state cannot be read counts as running. */
export function startReader(info: ProcessInfo): ReadStart {
  return (pid) => {
    const { startTime = UNKNOWN, hasEnded = false } = statusOf(pid, info) ?? {};
    return hasEnded || !info.isRunning(pid) ? undefined : startTime;
  };
}

/** Returns the digest of this machine, followed by its aliases. Throws the system error. */
function identifyMachine({ hostname, platform, now, system }: ProcessInfo): readonly string[] {
  if (platform === 'win32') {
    const boot = Math.round((now() - system.uptime()) / 1000);
    return [0, ...BOOT_TOLERANCE_SECONDS].map((seconds) => digest(`${hostname}\n${boot + seconds}`));
  }
  // The host name of a Mac changes with its network. The commands have full paths, because cron's PATH is short.
  if (platform === 'darwin') return [digest(system.run('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid'], {}))];
  // NSpid must list one PID. Otherwise /proc belongs to another namespace, in which our PIDs are other processes.
  if (!/^NSpid:\s*\d+$/m.test(system.read('/proc/self/status'))) return [];
  const boot = system.read('/proc/sys/kernel/random/boot_id');
  return [digest(`${hostname}\n${boot}${system.readLink('/proc/self/ns/pid')}`)];
}

/** Returns undefined if the state of the process cannot be read. A zombie counts as ended. */
function statusOf(
  pid: number,
  { platform, system }: ProcessInfo,
): { startTime: string; hasEnded: boolean } | undefined {
  if (platform === 'win32') return undefined;
  if (platform === 'darwin') {
    const startTime = tryRead(() => system.run('/bin/ps', ['-o', 'lstart=', '-p', `${pid}`], PS_ENVIRONMENT));
    return startTime?.trim() ? { startTime: digest(startTime), hasEnded: false } : undefined;
  }
  const stat = tryRead(() => system.read(`/proc/${pid}/stat`));
  // The fields after the command's name, which may contain any text: state, number of threads (20), start time (22).
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  const [state = '', threads, start] = [fields[0], fields[17], fields[19]];
  if (start === undefined) return undefined;
  // Another thread of a killed process may still be in a write after the first thread has ended.
  return { startTime: Number(start).toString(36), hasEnded: /^[ZX]/.test(state) && Number(threads) <= 1 };
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

/** The parsed name of a part (`part`), of a part during its commit (`lock`) or of a record (`resume`). */
export interface PartName {
  readonly name: string;
  readonly kind: 'part' | 'lock' | 'resume';
  readonly stem: string;
  readonly id: string;
  /** Undefined for a record, whose name stays the same when another run claims the part. */
  readonly owner: Owner | undefined;
}

const MAX_NAME_BYTES = 255;
/** The owner is `MACHINE-PID-STARTED`: 16 hexadecimal digits and two numbers in base 36. An underscore is unknown. */
const OWNED = /^\.(.+)\.(?:([0-9a-f]{16})-([0-9a-z]{1,7})-([0-9a-z]{1,16}|_)|_)\.([0-9a-z]{8})\.(part|lock)$/s;
const RECORD = /^\.(.+)\.([0-9a-z]{8})\.resume$/s;

/** Returns the final name as it is in the names of its parts: the name itself, or a digest of a very long `-o` name. */
export function stemOf(finalName: string): string {
  const fits = Buffer.byteLength(finalName) + PART_SUFFIX_BYTES <= MAX_NAME_BYTES;
  return fits ? finalName : `long-${digest(finalName)}`;
}

/** Returns the name of a part. A run claims a part by one rename to its own name for it. */
export function partName(stem: string, owner: Owner | undefined, id: string, kind: 'part' | 'lock' = 'part'): string {
  const text = owner ? `${owner.machine}-${owner.pid.toString(36)}-${owner.startTime}` : UNKNOWN;
  return `.${stem}.${text}.${id}.${kind}`;
}

/** Returns the name of the record of a part. */
export function recordName(stem: string, id: string): string {
  return `.${stem}.${id}.resume`;
}

/** Returns the id of a new part. `random` is in [0, 1). */
export function newId(random: number): string {
  return random.toString(36).slice(2, 10).padEnd(8, '0');
}

/** Returns undefined if the name is not one of a part or record. */
export function parsePartName(name: string): PartName | undefined {
  const [, stem, machine, pid = '', startTime = '', id, kind] = OWNED.exec(name) ?? [];
  if (stem !== undefined && id !== undefined) {
    const owner = machine === undefined ? undefined : { machine, pid: Number.parseInt(pid, 36), startTime };
    return { name, kind: kind === 'lock' ? 'lock' : 'part', stem, id, owner };
  }
  const [, ofStem, ofId] = RECORD.exec(name) ?? [];
  if (ofStem === undefined || ofId === undefined) return undefined;
  return { name, kind: 'resume', stem: ofStem, id: ofId, owner: undefined };
}
