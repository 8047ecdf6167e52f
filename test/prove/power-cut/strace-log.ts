/** A system call of a log that `strace -f -xx` wrote. The log must include `clone` and `clone3`. */
export interface Call {
  readonly name: string;
  /** The process whose descriptors the call uses, not its thread. */
  readonly process: number;
  /** The arguments. Texts are written as `"\x2f\x74"`. */
  readonly args: string;
  /** Undefined if the call did not return because its process was killed. */
  readonly result: number | undefined;
  /** The lines at which it began and returned. */
  readonly begin: number;
  readonly end: number;
}

/** A complete call, the beginning of one, or the rest of a call that began in an earlier line. */
const LINE = /^(\d+) +(?:<\.\.\. \w+ resumed>|(\w+)\()(.*?)(?: <unfinished \.\.\.>|\) += (-?\d+|\?).*)$/;

/**
 * Reads a log, in which the calls of several threads and processes overlap. Returns the calls in the order in which
 * they returned, unfinished ones last. strace stops a process before and after each call until the line is written, so
 * that a call takes effect between its two lines.
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
  // The process of a thread is the first one of those that share their descriptors.
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

/** The texts among the arguments of a call. */
export function textsOf({ args }: Call): Buffer[] {
  return [...args.matchAll(/"((?:\\x[\da-f]{2})*)"(\.\.\.)?/g)].map(([, hex = '', cut]) => {
    if (cut) throw new Error('strace has cut a text off: its -s is too small');
    return Buffer.from(hex.replaceAll('\\x', ''), 'hex');
  });
}
