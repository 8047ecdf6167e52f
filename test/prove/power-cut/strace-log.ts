/** One system call of a log that `strace -f -xx` wrote. */
export interface Call {
  readonly name: string;
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

/** Reads a log; calls of several threads overlap in it. In the order in which they returned; those that did not are last. */
export function readCalls(log: string): Call[] {
  const calls: Call[] = [];
  const open = new Map<string, Omit<Call, 'result' | 'end'>>();
  for (const [at, line] of log.split('\n').entries()) {
    const [, , name, args, result] = WHOLE.exec(line) ?? [];
    if (name !== undefined) {
      calls.push({ name, args: args ?? '', result: returned(result), begin: at, end: at });
      continue;
    }
    const [, thread = '', begun, first] = BEGUN.exec(line) ?? [];
    if (begun !== undefined) open.set(thread, { name: begun, args: first ?? '', begin: at });
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
