import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { PART_SUFFIX_BYTES } from '../../disk/file-name.ts';

/**
 * The process that a part belongs to, written into the part's name. Undefined is what could not be read: unknown, and
 * never taken for the same nor for another.
 */
export interface Owner {
  /** A digest of host, boot and process namespace: two of the same are on one machine that has run on since. */
  readonly machine: string | undefined;
  readonly pid: number;
  /** When it started, in units of the platform's own, since numbers of processes come again. */
  readonly started: string | undefined;
}

const UNKNOWN = '_';
/** `MACHINE-PID-STARTED`: 16 hexadecimal digits and two numbers in base 36; an underscore is unknown. */
const OWNER_PATTERN = '(?:[0-9a-f]{16}|_)-[0-9a-z]{1,7}-(?:[0-9a-z]{1,16}|_)';

/** An owner as it is in a part's name. */
export function ownerText({ machine = UNKNOWN, pid, started = UNKNOWN }: Owner): string {
  return [machine, pid.toString(36), started].join('-');
}

/** Reads a text that fits the pattern. */
export function parseOwner(text: string): Owner {
  const [machine, pid = '', started] = text.split('-').map((field) => (field === UNKNOWN ? undefined : field));
  return { machine, pid: Number.parseInt(pid, 36), started };
}

/**
 * The process of a number in this run's own namespace, its start undefined when that can't be read; undefined when it is
 * known that there is none.
 */
export type ProcessAt = (pid: number) => Pick<Owner, 'started'> | undefined;

/** What is known of an owner. A number alone says nothing: only another start proves that it is another process. */
export function stateOf(owner: Owner, self: Owner, processAt: ProcessAt): 'alive' | 'ended' | 'unknown' {
  if (owner.machine === undefined || owner.machine !== self.machine) return 'unknown';
  const process = processAt(owner.pid);
  if (process === undefined) return 'ended';
  const isAnother = owner.started !== undefined && process.started !== undefined && owner.started !== process.started;
  return isAnother ? 'ended' : 'alive';
}

/** A process as an owner, as far as it can be read: without /proc, or with a part of it, much is unknown. */
export function ownerOf(pid: number, hostname: string, platform: string): Owner {
  const boot = tryRead(() => bootOf(platform))?.trim();
  const namespace = tryRead(() => (platform === 'darwin' ? 'none' : readlinkSync('/proc/self/ns/pid')));
  const host = `${hostname}\n${tryRead(() => readFileSync('/etc/machine-id', 'utf8')) ?? ''}`.trim();
  const isKnown = boot && namespace && host;
  return {
    machine: isKnown ? digest(`${host}\n${boot}\n${namespace}`) : undefined,
    pid,
    started: statusOf(pid, platform)?.started,
  };
}

/** Looks processes up; `isRunning` tells whether there is one of a number, true when that can't be told. */
export function processesOf(platform: string, isRunning: (pid: number) => boolean): ProcessAt {
  return (pid) => {
    const status = statusOf(pid, platform);
    return status?.hasEnded || !isRunning(pid) ? undefined : { started: status?.started };
  };
}

function bootOf(platform: string): string {
  return platform === 'darwin'
    ? execFileSync('sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' })
    : readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
}

/** What the system says of a process, which has ended, too, when it only waits for its parent to look; undefined when nothing can be read. */
function statusOf(pid: number, platform: string): { started: string; hasEnded: boolean } | undefined {
  if (platform === 'darwin') {
    const started = tryRead(() => execFileSync('ps', ['-o', 'lstart=', '-p', `${pid}`], { encoding: 'utf8' }));
    return started?.trim() ? { started: digest(started.trim()), hasEnded: false } : undefined;
  }
  const stat = procIsOurs() ? tryRead(() => readFileSync(`/proc/${pid}/stat`, 'utf8')) : undefined;
  // Counted from behind the command's name, which may hold anything: the state, field 20, the threads, and 22, the start.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  const [state = '', threads, start] = [fields[0], fields[17], fields[19]];
  if (start === undefined) return undefined;
  // A thread of a killed process may still be in a write when the first one has ended.
  return { started: Number(start).toString(36), hasEnded: /^[ZX]/.test(state) && Number(threads) <= 1 };
}

/** /proc may be that of another process namespace, with other processes under our numbers. Linux tells one number a namespace. */
function procIsOurs(): boolean {
  const status = tryRead(() => readFileSync('/proc/self/status', 'utf8'));
  return /^NSpid:\s*\d+$/m.test(status ?? '');
}

/** 16 hexadecimal digits (FNV-1a). To load node:crypto takes a twentieth of a small download. */
function digest(text: string): string {
  let bits = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) bits = BigInt.asUintN(64, (bits ^ BigInt(byte)) * 0x100000001b3n);
  return bits.toString(16).padStart(16, '0');
}

function tryRead(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const LONGEST_NAME_BYTES = 255;
const OWNED = new RegExp(`^\\.(.+)\\.(${OWNER_PATTERN})\\.([0-9a-z]{8})\\.(part|lock)$`, 's');
const RECORD = /^\.(.+)\.([0-9a-z]{8})\.resume$/s;

/** `part`: the bytes; `lock`: somebody is about to put a file under its final name; `resume`: the record beside a part. */
export type PartName =
  | { readonly kind: 'part' | 'lock'; readonly stem: string; readonly id: string; readonly owner: Owner }
  | { readonly kind: 'resume'; readonly stem: string; readonly id: string };

/** What stands for a final name in its parts' names: the name itself, or a digest where `-o` chose a very long one. */
export function stemOf(final: string): string {
  const fits = Buffer.byteLength(final) + PART_SUFFIX_BYTES <= LONGEST_NAME_BYTES;
  return fits ? final : `long-${digest(final)}`;
}

/** The name of a part, or of the lock that its run lays: taking it over is one rename to another owner's. */
export function partName(stem: string, owner: Owner, id: string, kind: 'part' | 'lock' = 'part'): string {
  return `.${stem}.${ownerText(owner)}.${id}.${kind}`;
}

/** The name of a part's record, which stays whoever takes the part over. */
export function recordName(stem: string, id: string): string {
  return `.${stem}.${id}.resume`;
}

/** A new id, from a random number in [0, 1). */
export function newId(random: number): string {
  return Math.floor(random * 36 ** 8)
    .toString(36)
    .padStart(8, '0');
}

/** Reads a name as a part's, a lock's or a record's; undefined for any other file. */
export function parsePartName(name: string): PartName | undefined {
  const [, stem, owner, id, kind] = OWNED.exec(name) ?? [];
  if (stem !== undefined && owner !== undefined && id !== undefined)
    return { kind: kind === 'lock' ? 'lock' : 'part', stem, id, owner: parseOwner(owner) };
  const [, ofStem, ofId] = RECORD.exec(name) ?? [];
  return ofStem !== undefined && ofId !== undefined ? { kind: 'resume', stem: ofStem, id: ofId } : undefined;
}
