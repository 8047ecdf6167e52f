import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { errnoOf } from '../../src/errors.ts';
import { Connections } from '../../src/http/connections.ts';
import { RateLimiter } from '../../src/http/rate-limiter.ts';
import { Secrets } from '../../src/secrets.ts';
import { parseAccession } from '../../src/service/accession.ts';
import { ServiceClient } from '../../src/service/client.ts';
import type { ByteWriter } from '../../src/stdio/byte-writer.ts';
import { Directories } from '../../src/transfer/directories.ts';
import { fetchToDisk, fetchToStream } from '../../src/transfer/download.ts';
import type { IfExists } from '../../src/transfer/file-plan.ts';
import { SYSTEM } from '../../src/world.ts';
import { type Script, scripted } from '../servers/scripted.ts';

export const ACCESSION = parseAccession('0001234567-24-000001');

export interface RunOptions {
  readonly retries?: number;
  readonly maxRetryAfterMs?: number;
  /** A limiter with a clock of the test. */
  readonly limiter?: RateLimiter;
  readonly ifExists?: IfExists;
  readonly hasChecksums?: boolean;
  readonly directory?: string;
  /** A path below that directory, in which no link is followed. */
  readonly below?: string;
  /** The size in the listing. */
  readonly listedSize?: number;
  /** Called before each retry. */
  readonly retry?: () => void;
  /** Receives the warnings. */
  readonly warn?: (text: string) => void;
}

/** PIDs of the runs that have not ended, beyond those of all real processes. */
const livePids = new Set<number>();
let lastPid = 1_000_000_000;

export type Run = Awaited<ReturnType<typeof startRun>>;

/**
 * Starts a run inside this process: everything between the command line and the exit status. It ends with the test. To
 * other runs it is a process of its own, which has ended after `die`.
 */
export async function startRun(url: string, options: RunOptions = {}) {
  const {
    directory = await temporaryDirectory(),
    ifExists = 'skip',
    below = '.',
    listedSize,
    hasChecksums = false,
  } = options;
  const monotonic = () => performance.now();
  const connections = new Connections({ connectTimeout: 10_000, idleTimeout: 20_000 }, { env: {}, monotonic, sleep });
  onTestFinished(() => connections.close());
  const credentials = { source: 'test', key: 'a-key', keyHeader: '', basicUser: '', token: undefined };
  const client = new ServiceClient({
    baseUrl: new URL(url),
    credentials: { ...credentials, keyIn: 'authorization' },
    warn: () => {},
    connections,
    retry: {
      retries: options.retries ?? 0,
      maxRetryAfterMs: options.maxRetryAfterMs ?? 300_000,
      limiter: options.limiter ?? new RateLimiter(undefined, { monotonic, sleep }),
      monotonic,
      now: Date.now,
      random: () => 0,
      // The limiter waits for the service’s Retry-After.
      sleep: async (_, aborted) => aborted.throwIfAborted(),
    },
    userAgent: 'test',
    secrets: new Secrets(),
    hintCommand: (command) => command,
    trace: () => {},
  });
  lastPid += 1;
  const pid = lastPid;
  livePids.add(pid);
  const directories = new Directories(processInfo(pid));
  const fetching = { client, directories, listedSizes: { ignored: false }, monotonic };
  const { signal } = new AbortController();
  const nothing = () => {};
  const { retry = nothing, warn = nothing } = options;
  const watcher = { total: nothing, received: nothing, resumable: nothing, retry, warn };
  const fileOf = (fileName: string) => ({ accession: ACCESSION, fileName });
  return {
    directory,
    save(name = 'primary.htm', sha256?: string) {
      const path = join(directory, below, name);
      const request = {
        accession: ACCESSION,
        displayPath: path,
        ifExists,
        sha256,
        listedSize,
        hasChecksums,
        isDryRun: false,
      };
      const target = { ...request, path, location: { directory, below }, isOutput: false, isInOwnDirectory: false };
      return fetchToDisk(fileOf(name), target, fetching, signal, watcher);
    },
    pipe(writer: ByteWriter, spoolDirectory?: string) {
      const spoolIn =
        spoolDirectory === undefined ? undefined : { directory: spoolDirectory, platform: process.platform };
      return fetchToStream(fileOf('primary.htm'), { open: async () => writer, spoolIn }, fetching, signal, watcher);
    },
    die: () => void livePids.delete(pid),
    names: () => readdir(directory),
    read: (name = 'primary.htm') => readFile(join(directory, below, name)),
  };
}

/** Returns what the directories of a run know of its process. */
export function processInfo(pid = process.pid) {
  const isHere = (other: number) => livePids.has(other) || isRunning(other);
  const { platform } = process;
  const own = { hostname: 'test', cwd: '/', pid, platform, isRunning: isHere, system: SYSTEM };
  return { ...own, now: Date.now, random: Math.random, sleep };
}

/** Returns whether a process has this PID, as the program does. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errnoOf(error) !== 'ESRCH';
  }
}

/** Starts a server that answers by a script, and a run against it. */
export async function runAgainst(script: Script, options?: RunOptions) {
  const server = await scripted(script);
  return { server, run: await startRun(server.url, options) };
}

export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'filings-transfer-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));
  return directory;
}

/** Creates a socket, which has a name and is not a file. */
export async function socketAt(path: string): Promise<void> {
  const server = createServer().listen(path);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
}

/** Returns a writer that keeps the bytes it is given. */
export function memoryWriter(): ByteWriter & { bytes(): Buffer } {
  const buffers: Buffer[] = [];
  return {
    async write(chunks) {
      buffers.push(...chunks.map((chunk) => Buffer.from(chunk)));
    },
    async end() {},
    bytes: () => Buffer.concat(buffers),
  };
}

/** Returns random bytes, so that a shifted or repeated piece is noticed. */
export const content = (size: number): Buffer => randomBytes(size);
