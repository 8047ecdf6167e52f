/** One system call of a log that `strace -f -xx` wrote, `clone` and its kin among the calls that it was told to write. */
export interface Call {
  readonly name: string;
  /** Whose descriptors it means: those of one process, whichever of its threads makes the call. */
  readonly process: number;
  /** Texts among them as `"\x2f\x74"`. */
  readonly args: string;
  /** Undefined: it never returned, as when its process was killed. */
  readonly result: number | undefined;
  /** The lines at which it began and returned. */
  readonly begin: number;
  readonly end: number;
}

/** A whole call, the begin of one, or the rest of one that began in another line. */
const LINE = /^(\d+) +(?:<\.\.\. \w+ resumed>|(\w+)\()(.*?)(?: <unfinished \.\.\.>|\) += (-?\d+|\?).*)$/;

/**
 * Reads a log; calls of several threads and processes overlap in it. In the order in which they returned; those that did
 * not are last. A process is held before and behind each call until its line is written, so that lines of several are in
 * an order that was: a call has its effect between its lines.
 */
export function readCalls(log: string): Call[] {
  const calls: Call[] = [];
  const open = new Map<string, Omit<Call, 'result' | 'end'>>();
  for (const [at, line] of log.split('\n').entries()) {
    const [, thread = '', name, rest = '', result] = LINE.exec(line) ?? [];
    const begun = name === undefined ? open.get(thread) : { name, process: Number(thread), args: '', begin: at };
    if (!begun) continue;
    const call = { ...begun, args: begun.args + rest };
    if (result === undefined) open.set(thread, call);
    else {
      open.delete(thread);
      calls.push({ ...call, result: result === '?' ? undefined : Number(result), end: at });
    }
  }
  for (const call of open.values()) calls.push({ ...call, result: undefined, end: Number.POSITIVE_INFINITY });
  // The process of a thread is the first of those that share their descriptors.
  const above = new Map<number, number>();
  for (const { name, args, result = 0, process } of calls) {
    if (/^clone3?$/.test(name) && args.includes('CLONE_FILES') && result > 0) above.set(result, process);
  }
  const first = (thread: number): number => {
    const parent = above.get(thread);
    return parent === undefined ? thread : first(parent);
  };
  return calls.map((call) => ({ ...call, process: first(call.process) }));
}

/** The texts among a call's arguments. */
export function textsOf({ args }: Call): Buffer[] {
  return [...args.matchAll(/"((?:\\x[\da-f]{2})*)"(\.\.\.)?/g)].map(([, hex = '', cut]) => {
    if (cut) throw new Error('strace has cut a text off: its -s is too small');
    return Buffer.from(hex.replaceAll('\\x', ''), 'hex');
  });
}
