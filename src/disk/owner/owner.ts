/** Owners touch their open parts this often, whatever else happens. Milliseconds. */
export const HEARTBEAT_MS = 60_000;
/** What may still have an owner is taken for abandoned after this long without a touch. Milliseconds. */
export const ABANDONED_MS = 600_000;
/** A machine that has just started may have a twin of the same name, which gets the time to show that it lives. */
const TWIN_MS = 2 * HEARTBEAT_MS;

/**
 * Who a part file belongs to: machine, boot, process namespace, process, and the process's start, since numbers
 * of processes come again. Written into the part's name, so that a sweeper needs no second file. Undefined is what
 * could not be read: unknown, and never taken for the same nor for another.
 */
export interface Owner {
  readonly host: string | undefined;
  readonly boot: string | undefined;
  readonly namespace: string | undefined;
  readonly pid: number;
  readonly started: string | undefined;
}

const UNKNOWN_DIGEST = '________';
const UNKNOWN_START = '_';
const DIGEST_PATTERN = `(?:[0-9a-f]{8}|${UNKNOWN_DIGEST})`;
/** `HOST-BOOT-NAMESPACE-PID-STARTED`: three of 8 hexadecimal digits and two numbers in base 36; underscores are unknown. */
export const OWNER_PATTERN = `${DIGEST_PATTERN}-${DIGEST_PATTERN}-${DIGEST_PATTERN}-[0-9a-z]{1,7}-(?:[0-9a-z]{1,13}|_)`;
const WHOLE = new RegExp(`^${OWNER_PATTERN}$`);

/** An owner as it stands in a part's name. */
export function ownerText({ host, boot, namespace, pid, started }: Owner): string {
  const digests = [host, boot, namespace].map((digest) => digest ?? UNKNOWN_DIGEST);
  return [...digests, pid.toString(36), started ?? UNKNOWN_START].join('-');
}

export function parseOwner(text: string): Owner | undefined {
  if (!WHOLE.test(text)) return undefined;
  const [host, boot, namespace, pid = '', started] = text.split('-');
  return {
    host: known(host),
    boot: known(boot),
    namespace: known(namespace),
    pid: Number.parseInt(pid, 36),
    started: known(started),
  };
}

function known(text: string | undefined): string | undefined {
  return text?.startsWith('_') ? undefined : text;
}

/** A process that is there; its start is undefined when it can't be read. */
export interface RunningProcess {
  readonly started: string | undefined;
}

/** What can be seen of an owner from here. */
export interface Signs {
  /** The process that has the owner's number now, in this run's own namespace; undefined when there is none. */
  readonly process: RunningProcess | undefined;
  /** Since the part was last changed or touched, by the file system's own clock; undefined when that can't be told. */
  readonly untouchedMs: number | undefined;
  /** Since this machine was started. */
  readonly uptimeMs: number;
}

/**
 * What may be done with a part:
 * - `alive`: nothing, its owner may be writing;
 * - `gone`: take it over with all its bytes;
 * - `rebooted`: take it over with what was flushed, since its tail may be zeros;
 * - `abandoned`: copy what was flushed, and leave it alone until the file stands: its owner may only be asleep.
 */
export type Standing = 'alive' | 'gone' | 'rebooted' | 'abandoned';

/** The one table of owners. */
export function standing(owner: Owner, self: Owner, { process, untouchedMs = 0, uptimeMs }: Signs): Standing {
  const is = (member: 'host' | 'boot' | 'namespace') => compare(owner[member], self[member]);
  if (is('host') === 'same' && is('namespace') === 'same') {
    if (is('boot') === 'same') return isGone(owner, process) ? 'gone' : 'alive';
    // Another boot's id alone may be that of a twin: two machines can share name and machine id.
    if (is('boot') === 'other' && untouchedMs > Math.max(uptimeMs, TWIN_MS)) return 'rebooted';
  }
  return untouchedMs >= ABANDONED_MS ? 'abandoned' : 'alive';
}

/** Another process may have the number by now; where a start is unknown, it may be the owner. */
function isGone(owner: Owner, process: RunningProcess | undefined): boolean {
  return process === undefined || compare(owner.started, process.started) === 'other';
}

function compare(one: string | undefined, two: string | undefined): 'same' | 'other' | 'unknown' {
  if (one === undefined || two === undefined) return 'unknown';
  return one === two ? 'same' : 'other';
}
