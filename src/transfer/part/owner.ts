import { hash } from 'node:crypto';
import { PART_SUFFIX_BYTES } from '../../disk/file-name.ts';
import type { World } from '../../world.ts';

/** As a part's name says. */
export interface Owner {
  /** A digest of what identifies the machine, its boot and its process namespace. */
  readonly machine: string;
  readonly pid: number;
  /** In units of the platform's own, since numbers of processes come again; or `UNKNOWN`. */
  readonly started: string;
}

/** This run as an owner. */
export interface Self extends Owner {
  /** What another run of the same boot may have called this machine. */
  readonly aliases: readonly string[];
}

export type ProcessInfo = Pick<World, 'hostname' | 'platform' | 'isRunning' | 'now' | 'system'>;

const UNKNOWN = '_';

/** When a process of this run's own namespace started, or `UNKNOWN`; undefined: there is none. */
type StartOf = (pid: number) => string | undefined;

export type OwnerState = 'alive' | 'ended' | 'unknown';

/** On Windows the time of the boot is computed, and may differ by this between two runs. */
const BOOT_TOLERANCE_SECONDS = [-2, -1, 1, 2];
/** What `ps` prints depends on both. */
const PS_ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC0' };

/**
 * An undefined owner could not be read, and is never taken for the same nor for another. Only another start proves that
 * it is another process.
 */
export function stateOf(owner: Owner | undefined, self: Self | undefined, startOf: StartOf): OwnerState {
  const isHere = owner !== undefined && self !== undefined && [self.machine, ...self.aliases].includes(owner.machine);
  if (!isHere) return 'unknown';
  const started = startOf(owner.pid);
  if (started === undefined) return 'ended';
  return started === owner.started || [started, owner.started].includes(UNKNOWN) ? 'alive' : 'ended';
}

/** Returns undefined if the machine, its boot or its process namespace can't be told. */
export function ownerOf(pid: number, info: ProcessInfo): Self | undefined {
  const [machine, ...aliases] = tryRead(() => machinesOf(info)) ?? [];
  return machine === undefined
    ? undefined
    : { machine, pid, started: statusOf(pid, info)?.started ?? UNKNOWN, aliases };
}

/** `isRunning` is true, too, when that can't be told. */
export function startsOf(info: ProcessInfo): StartOf {
  return (pid) => {
    const { started = UNKNOWN, hasEnded = false } = statusOf(pid, info) ?? {};
    return hasEnded || !info.isRunning(pid) ? undefined : started;
  };
}

/** Returns digests: this machine's own, and those under which it may be known as well. Throws the system error. */
function machinesOf({ hostname, platform, now, system }: ProcessInfo): readonly string[] {
  if (platform === 'win32') {
    const boot = Math.round((now() - system.uptime()) / 1000);
    return [0, ...BOOT_TOLERANCE_SECONDS].map((seconds) => digest(`${hostname}\n${boot + seconds}`));
  }
  // The name of a Mac changes with its network. Programs are named by their paths, since cron's PATH has few of them.
  if (platform === 'darwin') return [digest(system.run('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid'], {}))];
  // /proc may be another process namespace's, with other processes under our numbers: it tells one number a namespace.
  if (!/^NSpid:\s*\d+$/m.test(system.read('/proc/self/status'))) return [];
  const boot = system.read('/proc/sys/kernel/random/boot_id');
  return [digest(`${hostname}\n${boot}${system.readLink('/proc/self/ns/pid')}`)];
}

/** A process has ended, too, when it only waits for its parent to look. Undefined where nothing tells. */
function statusOf(pid: number, { platform, system }: ProcessInfo): { started: string; hasEnded: boolean } | undefined {
  if (platform === 'win32') return undefined;
  if (platform === 'darwin') {
    const started = tryRead(() => system.run('/bin/ps', ['-o', 'lstart=', '-p', `${pid}`], PS_ENVIRONMENT));
    return started?.trim() ? { started: digest(started), hasEnded: false } : undefined;
  }
  const stat = tryRead(() => system.read(`/proc/${pid}/stat`));
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

const MAX_NAME_BYTES = 255;
/** `MACHINE-PID-STARTED`: 16 hexadecimal digits, two numbers in base 36; an underscore is unknown. */
const OWNED = /^\.(.+)\.(?:([0-9a-f]{16})-([0-9a-z]{1,7})-([0-9a-z]{1,16}|_)|_)\.([0-9a-z]{8})\.(part|lock)$/s;
const RECORD = /^\.(.+)\.([0-9a-z]{8})\.resume$/s;

/** The name itself in its parts' names, or a digest where `-o` chose a very long one. */
export function stemOf(final: string): string {
  const fits = Buffer.byteLength(final) + PART_SUFFIX_BYTES <= MAX_NAME_BYTES;
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
