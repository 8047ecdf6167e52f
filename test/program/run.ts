import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { main } from '../../src/main.ts';
import type { World } from '../../src/world.ts';
import { worldOf } from '../settings-world.ts';

/** How a run of the program came out, in this process or in one of its own. */
export interface Ended {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface Given extends Partial<Omit<World, 'argv' | 'env' | 'stdin' | 'stdout' | 'stderr'>> {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What stdin holds. */
  readonly input?: string | Uint8Array;
}

/**
 * Runs the whole program inside this process: a command line and a world to an exit status, as `bin` does. Sockets,
 * files and children are real; the standard streams are memory, and the environment holds what is given and PATH.
 */
export async function run(args: readonly string[], { env = {}, input = '', ...world }: Given = {}): Promise<Ended> {
  const [stdout, stderr] = [kept(), kept()];
  const exitCode = await main(
    worldOf({
      cwd: tmpdir(),
      ...world,
      argv: args,
      env: { PATH: process.env.PATH, ...env },
      stdin: Readable.from(input.length > 0 ? [Buffer.from(input)] : []),
      stdout: stdout.stream,
      stderr: stderr.stream,
    }),
  );
  return { exitCode, stdout: stdout.bytes(), stderr: stderr.bytes().toString() };
}

/** A user's place: an empty home and an empty working directory, gone when the test has ended. */
export interface Workplace {
  readonly home: string;
  /** The working directory. */
  readonly path: string;
  names(): Promise<string[]>;
  read(name: string): Promise<Buffer>;
  /** Runs the program here, in this process. */
  run(args: readonly string[], env?: Readonly<Record<string, string>>, given?: Given): Promise<Ended>;
}

export async function workplace(): Promise<Workplace> {
  const home = await mkdtemp(join(tmpdir(), 'filings-home-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const path = join(home, 'work');
  await mkdir(path);
  return {
    home,
    path,
    names: () => readdir(path),
    read: (name) => readFile(join(path, name)),
    run: (args, env, given) => run(args, { cwd: path, ...given, env: { HOME: home, ...env } }),
  };
}

function kept() {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  return { stream, bytes: () => Buffer.concat(chunks) };
}
