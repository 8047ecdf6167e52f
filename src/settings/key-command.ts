import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { systemReason } from '../disk/failure.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { inSeconds, shortened } from '../text.ts';
import type { World } from '../world.ts';

/** More than a key ever needs. UTF-16 units. */
const LONGEST_OUTPUT = 65_536;
/** A program that asks a person for a password may take this long. */
const PATIENCE_MS = 30_000;
/** As much of stderr as is told, after it was redacted. UTF-16 units. */
const LONGEST_COMPLAINT = 500;

type Around = Pick<World, 'env' | 'cwd' | 'secrets'>;

/**
 * Runs a program without a shell, to its end; the first line of its stdout. Remembered as a secret.
 * @throws FilingsError `config` when it can't be run, fails, says nothing or takes 30 s; the signal's reason
 */
export async function firstLineOf(
  argv: readonly string[],
  what: string,
  world: Around,
  signal: AbortSignal,
): Promise<string> {
  const name = `${what} of apiKeyCommand: ${argv[0]}`;
  const until = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  signal.throwIfAborted();
  const ended = await run(argv, world, until).catch((cause) => {
    signal.throwIfAborted();
    if (until.aborted) throw new FilingsError('config', `${name}: wrote no key within ${inSeconds(PATIENCE_MS)}`);
    const why = errnoOf(cause) === 'ENOENT' ? 'no such program' : `cannot be run: ${systemReason(cause)}`;
    throw new FilingsError('config', `${name}: ${why}`, { cause });
  });
  return keyIn(ended, name, world);
}

/** A program that has ended. */
interface Ended {
  readonly output: string;
  readonly errors: string;
  readonly status: number | null;
  readonly signal: string | null;
}

async function run(
  [program = '', ...args]: readonly string[],
  { cwd, env }: Around,
  signal: AbortSignal,
): Promise<Ended> {
  const child = spawn(program, args, { cwd, env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'], signal });
  let [output, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output.length > LONGEST_OUTPUT) child.kill();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (errors.length < LONGEST_OUTPUT) errors += text;
  });
  try {
    // Not 'close', which waits for everybody who holds its stdout. What it wrote is in the pipe by now, and is read in
    // this turn of the loop or the next.
    const [status, endedBy] = await once(child, 'exit');
    await setImmediate();
    await setImmediate();
    return { output, errors, status, signal: endedBy };
  } finally {
    child.stdout.destroy();
    child.stderr.destroy();
    child.unref();
  }
}

function keyIn({ output, errors, status, signal }: Ended, name: string, { secrets }: Around): string {
  const line = firstLine(output);
  // Before anything is told: a program that fails may repeat on stderr the key that it wrote.
  secrets.add(line.trim());
  if (line.length > LONGEST_OUTPUT) throw new FilingsError('config', `${name}: wrote more than a key to its stdout`);
  if (status !== 0 && output.length <= LONGEST_OUTPUT) {
    const how = signal === null ? `exited with status ${status}` : `was ended by ${signal}`;
    const said = shortened(secrets.redact(firstLine(errors.trim())), LONGEST_COMPLAINT);
    throw new FilingsError('config', `${name}: ${how}${said ? `: ${said}` : ''}`, {
      hint: 'run the command of apiKeyCommand by hand, and fix it',
    });
  }
  if (line.trim() === '') throw new FilingsError('config', `${name}: wrote no key to its stdout`);
  return line;
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').replace(/\r$/, '');
}
