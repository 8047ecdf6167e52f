import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import { orAbort } from '../abort.ts';
import { systemReason } from '../disk/system-reason.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { inSeconds, shortened } from '../text.ts';
import type { World } from '../world.ts';

/** More than a key ever needs. UTF-16 units. */
const LONGEST_OUTPUT = 65_536;
/** A program that asks a person for a password may take this long. */
const PATIENCE_MS = 30_000;
/** After its first line a program that fails has this long to do so: what it wrote is no key then. */
const AFTERTHOUGHT_MS = 1000;
/** As much of stderr as is told, after it was redacted. UTF-16 units. */
const LONGEST_COMPLAINT = 500;

/** How long it may take to end once it was asked to. */
const GRACE_MS = 500;

/** What is known of a program when there is nothing more to wait for. */
interface Heard {
  readonly output: string;
  readonly errors: string;
  /** How it ended; neither is set while it runs on. */
  readonly status: number | null;
  readonly signal: string | null;
}

/**
 * Runs a program without a shell and gives back the first line of its stdout, for which alone is waited:
 * the program ends with it, and whatever else holds its stdout open does not matter. Remembered as a secret.
 * @throws FilingsError `config` when it can't be run, fails, says nothing or takes 30 s; the signal's reason
 */
export async function firstLineOf(
  argv: readonly string[],
  what: string,
  world: Pick<World, 'env' | 'cwd' | 'secrets'>,
  signal: AbortSignal,
): Promise<string> {
  const name = `${what} of apiKeyCommand: ${argv[0]}`;
  signal.throwIfAborted();
  const child = start(argv, name, world);
  const patience = AbortSignal.timeout(PATIENCE_MS);
  try {
    const heard = await orAbort(orAbort(listen(child, name), signal), patience);
    return keyIn(heard, name, world);
  } catch (error) {
    if (error !== patience.reason || signal.aborted) throw error;
    throw new FilingsError('config', `${name}: wrote no key within ${inSeconds(PATIENCE_MS)}`);
  } finally {
    child.stdout?.destroy();
    child.stderr?.destroy();
    await end(child);
  }
}

function start(argv: readonly string[], name: string, { cwd, env }: Pick<World, 'env' | 'cwd'>): ChildProcess {
  const [program = '', ...args] = argv;
  try {
    return spawn(program, args, { cwd, env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'], shell: false });
  } catch (cause) {
    throw notRun(name, cause);
  }
}

function notRun(name: string, cause: unknown): FilingsError {
  const why = errnoOf(cause) === 'ENOENT' ? 'no such program' : `cannot be run: ${systemReason(cause)}`;
  return new FilingsError('config', `${name}: ${why}`, { cause });
}

function keyIn({ output, errors, status, signal }: Heard, name: string, { secrets }: Pick<World, 'secrets'>): string {
  const line = firstLine(output);
  // Before anything is told: a program that fails may repeat on stderr the key that it wrote.
  secrets.add(line.trim());
  if (status || signal) {
    const how = signal === null ? `exited with status ${status}` : `was ended by ${signal}`;
    const said = shortened(secrets.redact(firstLine(errors.trim())), LONGEST_COMPLAINT);
    throw new FilingsError('config', `${name}: ${how}${said ? `: ${said}` : ''}`, {
      hint: 'run the command of apiKeyCommand by hand, and mend it',
    });
  }
  if (line.trim() === '') throw new FilingsError('config', `${name}: wrote no key to its stdout`);
  return line;
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').replace(/\r$/, '');
}

/** Hears a program until it has ended, or has written a line and not failed soon after. */
function listen(child: ChildProcess, name: string): Promise<Heard> {
  return new Promise((resolve, reject) => {
    let [output, errors] = ['', ''];
    let afterthought: NodeJS.Timeout | undefined;
    const settle = (status: number | null, signal: string | null) => {
      clearTimeout(afterthought);
      resolve({ output, errors, status, signal });
    };
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.includes('\n')) afterthought ??= setTimeout(settle, AFTERTHOUGHT_MS, null, null);
      else if (output.length > LONGEST_OUTPUT) {
        reject(new FilingsError('config', `${name}: wrote more than a key to its stdout`));
      }
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (errors.length < LONGEST_OUTPUT) errors += text;
    });
    child.on('error', (cause) => reject(notRun(name, cause)));
    // Not 'close', which waits for everybody who holds its stdout. What it wrote is in the pipe by now, and is
    // read in this turn of the loop or the next.
    child.on('exit', (status, signal) => setImmediate(() => setImmediate(settle, status, signal)));
  });
}

/** Ends the program, by force where asking is not enough. Not its process group: that has the terminal, where it may ask. */
async function end(child: ChildProcess): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await Promise.race([gone, setTimeoutPromise(GRACE_MS, undefined, { ref: false })]);
  }
}
