import { type ChildProcess, spawn } from 'node:child_process';
import { errnoOf, FilingsError } from '../errors.ts';
import type { World } from '../world.ts';

/** More than a key ever needs. UTF-16 units. */
const LONGEST_OUTPUT = 65_536;

interface Ended {
  readonly output: string;
  readonly errors: string;
  readonly status: number | null;
  readonly signal: string | null;
}

/**
 * Runs a program without a shell and gives back the first line of its stdout.
 * @throws FilingsError `config` when it can't be run, fails or says nothing; the signal's reason, the program then killed
 */
export async function firstLineOf(
  argv: readonly string[],
  what: string,
  world: Pick<World, 'env' | 'cwd'>,
  signal: AbortSignal,
): Promise<string> {
  const [program = '', ...args] = argv;
  const name = `${what} of apiKeyCommand: ${program}`;
  signal.throwIfAborted();
  const child = spawn(program, args, {
    cwd: world.cwd,
    env: { ...world.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: false,
  });
  const kill = () => child.kill('SIGTERM');
  signal.addEventListener('abort', kill, { once: true });
  try {
    const ended = await Promise.race([endOf(child, name), aborted(signal)]);
    return firstLine(ended, name);
  } finally {
    signal.removeEventListener('abort', kill);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

function firstLine({ output, errors, status, signal }: Ended, name: string): string {
  if (status !== 0) {
    const how = signal === null ? `exited with status ${status}` : `was ended by ${signal}`;
    const said = errors.trim().split('\n')[0];
    throw new FilingsError('config', `${name}: ${how}${said ? `: ${said}` : ''}`, {
      hint: 'run the command of apiKeyCommand by hand, and mend it',
    });
  }
  const [line = ''] = output.split('\n', 1);
  if (line.trim() === '') throw new FilingsError('config', `${name}: wrote no key to its stdout`);
  return line.replace(/\r$/, '');
}

function endOf(child: ChildProcess, name: string): Promise<Ended> {
  return new Promise((resolve, reject) => {
    let output = '';
    let errors = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.length <= LONGEST_OUTPUT) return;
      child.kill('SIGTERM');
      reject(new FilingsError('config', `${name}: wrote more than a key to its stdout`));
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(0, LONGEST_OUTPUT);
    });
    child.on('error', (cause) => {
      const why = errnoOf(cause) === 'ENOENT' ? 'no such program' : `cannot be run (${errnoOf(cause)})`;
      reject(new FilingsError('config', `${name}: ${why}`, { cause }));
    });
    child.on('close', (status, signal) => resolve({ output, errors, status, signal }));
  });
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
