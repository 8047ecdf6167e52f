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
import { type Script, scripted } from '../servers/scripted.ts';

export const ACCESSION = parseAccession('0001234567-24-000001');

export interface RunOptions {
  readonly retries?: number;
  readonly maxRetryAfterMs?: number;
  /** By a clock of the test's own. */
  readonly limiter?: RateLimiter;
  readonly ifExists?: IfExists;
  readonly hasChecksums?: boolean;
  readonly directory?: string;
  /** A path below that directory, in which no link is followed. */
  readonly below?: string;
  /** The size that the listing gave. */
  readonly listedSize?: number;
  /** Called before each further try. */
  readonly retry?: () => void;
  /** Told of warnings. */
  readonly warn?: (text: string) => void;
}

/** Numbers beyond those of all real processes. */
const living = new Set<number>();
let lastPid = 1_000_000_000;

export type Run = Awaited<ReturnType<typeof startRun>>;

/**
 * What the program does between the command line and the exit status, inside this process: connections, client,
 * directories. Ends with the test. Each is a process to the others; what it leaves is an ended one's once it has died.
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
      // What the service asks for is waited for by the limiter.
      sleep: async (_, aborted) => aborted.throwIfAborted(),
    },
    userAgent: 'test',
    secrets: new Secrets(),
    again: (command) => command,
    trace: () => {},
  });
  lastPid += 1;
  const pid = lastPid;
  living.add(pid);
  const directories = new Directories(processInfo(pid));
  const fetching = { client, directories, listedSizes: { ignored: false }, monotonic };
  const { signal } = new AbortController();
  const nothing = () => {};
  const { retry = nothing, warn = nothing } = options;
  const watcher = { total: nothing, received: nothing, resumable: nothing, retry, warn };
  const wanted = (fileName: string) => ({ accession: ACCESSION, fileName });
  return {
    directory,
    save(name = 'primary.htm', sha256?: string) {
      const path = join(directory, below, name);
      const asked = {
        accession: ACCESSION,
        displayPath: path,
        ifExists,
        sha256,
        listedSize,
        hasChecksums,
        isDryRun: false,
      };
      const target = { ...asked, path, where: { directory, below }, isOutput: false, isInOwnDirectory: false };
      return fetchToDisk(wanted(name), target, fetching, signal, watcher);
    },
    pipe: (writer: ByteWriter) =>
      fetchToStream(wanted('primary.htm'), { open: async () => writer }, fetching, signal, watcher),
    die: () => void living.delete(pid),
    names: () => readdir(directory),
    read: (name = 'primary.htm') => readFile(join(directory, below, name)),
  };
}

/** What a run’s directories know of its process. */
export function processInfo(pid = process.pid) {
  const isHere = (other: number) => living.has(other) || isRunning(other);
  const { platform } = process;
  return { hostname: 'test', pid, platform, isRunning: isHere, now: Date.now, random: Math.random, sleep };
}

/** As the world tells it. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errnoOf(error) !== 'ESRCH';
  }
}

/** A run against a server that answers by a script. */
export async function runAgainst(script: Script, options?: RunOptions) {
  const server = await scripted(script);
  return { server, run: await startRun(server.url, options) };
}

export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'filings-transfer-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));
  return directory;
}

/** What has a name, and is no file. */
export async function socketAt(path: string): Promise<void> {
  const server = createServer().listen(path);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
}

/** A writer that keeps what it is given. */
export function memoryWriter(): ByteWriter & { bytes(): Buffer } {
  const kept: Buffer[] = [];
  return {
    async write(chunks) {
      kept.push(...chunks.map((chunk) => Buffer.from(chunk)));
    },
    async end() {},
    bytes: () => Buffer.concat(kept),
  };
}

/** Bytes that look like nothing else, so that a shifted or repeated piece shows. */
export const content = (size: number): Buffer => randomBytes(size);
