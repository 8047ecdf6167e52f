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

const WHOLE = /^(\d+) +(\w+)\((.*)\) += (-?\d+|\?)/s;
const BEGUN = /^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$/s;
const RESUMED = /^(\d+) +<\.\.\. (\w+) resumed>(.*)\) += (-?\d+|\?)/s;

type ThreadCall = Omit<Call, 'process'> & { readonly thread: string };

/**
 * Reads a log; calls of several threads and processes overlap in it. In the order in which they returned; those that did
 * not are last. A process is held before and behind each call until its line is written, so that lines of several are in
 * an order that was: a call has its effect between its lines.
 */
export function readCalls(log: string): Call[] {
  const calls = readThreads(log);
  const processOf = processesIn(calls);
  return calls.map(({ thread, ...call }) => ({ ...call, process: processOf(Number(thread)) }));
}

/** Tells the process of a thread: the first thread of those that share their descriptors. */
function processesIn(calls: readonly ThreadCall[]): (thread: number) => number {
  const above = new Map<number, number>();
  for (const { name, args, result = 0, thread } of calls) {
    if (/^clone3?$/.test(name) && args.includes('CLONE_FILES') && result > 0) above.set(result, Number(thread));
  }
  return (thread) => {
    let first = thread;
    for (let next = above.get(first); next !== undefined; next = above.get(first)) first = next;
    return first;
  };
}

function readThreads(log: string): ThreadCall[] {
  const calls: ThreadCall[] = [];
  const open = new Map<string, Omit<ThreadCall, 'result' | 'end'>>();
  for (const [at, line] of log.split('\n').entries()) {
    const [, caller = '', name, args, result] = WHOLE.exec(line) ?? [];
    if (name !== undefined) {
      calls.push({ name, thread: caller, args: args ?? '', result: returned(result), begin: at, end: at });
      continue;
    }
    const [, thread = '', begun, first] = BEGUN.exec(line) ?? [];
    if (begun !== undefined) open.set(thread, { name: begun, thread, args: first ?? '', begin: at });
    const [, same = '', resumed, rest, ended] = RESUMED.exec(line) ?? [];
    const before = resumed === undefined ? undefined : open.get(same);
    if (!before) continue;
    open.delete(same);
    calls.push({ ...before, args: before.args + rest, result: returned(ended), end: at });
  }
  const lost = [...open.values()].map((call) => ({ ...call, result: undefined, end: Number.POSITIVE_INFINITY }));
  return [...calls, ...lost];
}

function returned(text: string | undefined): number | undefined {
  return text === undefined || text === '?' ? undefined : Number(text);
}

/** The texts among a call's arguments. */
export function textsOf({ args }: Call): Buffer[] {
  return [...args.matchAll(/"((?:\\x[\da-f]{2})*)"(\.\.\.)?/g)].map(([, hex = '', cut]) => {
    if (cut) throw new Error('strace has cut a text off: its -s is too small');
    return Buffer.from(hex.replaceAll('\\x', ''), 'hex');
  });
}
