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
  const wrong = (why: string, cause?: unknown) =>
    new FilingsError('config', `${what} of apiKeyCommand: ${argv[0]}: ${why}`, { cause });
  const until = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  signal.throwIfAborted();
  const { output, errors, ended } = await run(argv, world, until).catch((cause) => {
    signal.throwIfAborted();
    if (until.aborted) throw wrong(`wrote no key within ${inSeconds(PATIENCE_MS)}`);
    throw wrong(errnoOf(cause) === 'ENOENT' ? 'no such program' : `cannot be run: ${systemReason(cause)}`, cause);
  });
  const line = firstLine(output);
  // Before anything is told: a program that fails may repeat on stderr the key that it wrote.
  world.secrets.add(line.trim());
  if (line.length > LONGEST_OUTPUT) throw wrong('wrote more than a key to its stdout');
  if (ended !== undefined && output.length <= LONGEST_OUTPUT) {
    const said = shortened(world.secrets.redact(firstLine(errors.trim())), LONGEST_COMPLAINT);
    throw wrong(said === '' ? ended : `${ended}: ${said}`);
  }
  if (line.trim() === '') throw wrong('wrote no key to its stdout');
  return line;
}

/** What a program writes until it has ended; `ended`: how, when it failed. */
async function run([program = '', ...args]: readonly string[], { cwd, env }: Around, signal: AbortSignal) {
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
    const failure = endedBy === null ? `exited with status ${status}` : `was ended by ${endedBy}`;
    return { output, errors, ended: status === 0 ? undefined : failure };
  } finally {
    child.stdout.destroy();
    child.stderr.destroy();
    child.unref();
  }
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').replace(/\r$/, '');
}
