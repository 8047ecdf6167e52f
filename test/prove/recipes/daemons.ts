import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closedPort } from '../../servers/scripted.ts';

/** Which of these programs are not installed. */
export function missing(programs: readonly string[]): string[] {
  return programs.filter((program) => spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program], { env: PATHS }).status);
}

/** Daemons are where a user's PATH need not lead. */
export const PATHS = { PATH: `${process.env.PATH ?? ''}:/usr/sbin:/sbin` };

export interface Daemon {
  readonly pid: number;
  /** What it has said so far. */
  said(): string;
  /** Asks it to end, and waits until it has. */
  stop(): Promise<void>;
}

/** Starts a daemon in the foreground, and waits until it is ready; throws what it said when it ends before. */
export async function startDaemon(
  [file = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
  ready: () => boolean | Promise<boolean>,
): Promise<Daemon> {
  const child = spawn(file, args, { env: { ...PATHS, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      said += chunk;
    });
  }
  const daemon = { pid: child.pid ?? 0, said: () => said, stop: () => stopped(child) };
  while (!(await ready())) {
    if (hasEnded(child)) throw new Error(`${file} ended with ${child.exitCode ?? child.signalCode}: ${said}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return daemon;
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

async function stopped(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** Ports of 127.0.0.1 on which nothing listens. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await closedPort());
  return [...ports];
}
