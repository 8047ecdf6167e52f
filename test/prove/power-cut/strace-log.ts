/** A system call of a log that `strace -f -y -xx` wrote. */
export interface Call {
  readonly name: string;
  /** The arguments. Texts are written as `"\x2f\x74"`, and descriptors as `3<\x2f\x74>`. */
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
 * Reads a log, in which the calls of several threads and processes overlap. strace stops a process before and after each
 * call until the line is written, so that a call takes effect between its two lines.
 */
export function readCalls(log: string): Call[] {
  const calls: Call[] = [];
  const open = new Map<string, Omit<Call, 'result' | 'end'>>();
  for (const [at, line] of log.split('\n').entries()) {
    const [, thread = '', name, rest = '', result] = LINE.exec(line) ?? [];
    const begun = name === undefined ? open.get(thread) : { name, args: '', begin: at };
    if (!begun) continue;
    const call = { ...begun, args: begun.args + rest };
    if (result === undefined) open.set(thread, call);
    else {
      open.delete(thread);
      calls.push({ ...call, result: result === '?' ? undefined : Number(result), end: at });
    }
  }
  for (const call of open.values()) calls.push({ ...call, result: undefined, end: Number.POSITIVE_INFINITY });
  return calls;
}

/** The texts among the arguments of a call. */
export function textsOf({ args }: Call): Buffer[] {
  return [...args.matchAll(/"((?:\\x[\da-f]{2})*)"(\.\.\.)?/g)].map(([, text = '', cut]) => {
    if (cut) throw new Error('strace has cut a text off: its -s is too small');
    return decoded(text);
  });
}

/** The descriptor that is the first argument of a call, and the path of its file, unless that has no name any more. */
export function descriptorOf({ args }: Call): { fd: number; path: string } | undefined {
  const [, fd, path = ''] = /^(\d+)<([^>]*)>(?!\(deleted\))/.exec(args) ?? [];
  return fd === undefined ? undefined : { fd: Number(fd), path: decoded(path).toString() };
}

function decoded(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex');
}
