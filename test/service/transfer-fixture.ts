import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, test as vitestTest } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { createChecksumFiles } from '../../src/checksums/sums-files.ts';
import { Directories } from '../../src/disk/directory.ts';
import { Connections } from '../../src/http/connections.ts';
import { RateLimiter } from '../../src/http/rate-limiter.ts';
import { Secrets } from '../../src/secrets.ts';
import { parseAccession } from '../../src/service/accession.ts';
import { ServiceClient } from '../../src/service/client.ts';
import type { ByteWriter } from '../../src/stdio/output.ts';
import { Download } from '../../src/transfer/download.ts';
import type { IfExists, Target } from '../../src/transfer/plan.ts';
import { type Script, scripted } from '../servers/scripted.ts';

export const ACCESSION = parseAccession('0001234567-24-000001');

export interface RunOptions {
  readonly retries?: number;
  /** A limiter with a clock of the test. */
  readonly limiter?: RateLimiter;
  readonly ifExists?: IfExists;
  readonly writesChecksums?: boolean;
  readonly directory?: string;
  /** Parts of the world of its directories. */
  readonly world?: Partial<ReturnType<typeof directoryWorld>>;
  /** A credential of the run. */
  readonly secret?: string;
  /** Called before each retry. */
  readonly retry?: () => void;
  readonly signal?: AbortSignal;
}

export type Run = Awaited<ReturnType<typeof startRun>>;

/**
 * Starts a run inside this process: everything between the command line and the exit status. It ends with the test.
 */
export async function startRun(url: string, options: RunOptions = {}) {
  const { directory = await temporaryDirectory(), ifExists = 'skip', writesChecksums = false } = options;
  const monotonic = () => performance.now();
  const connections = new Connections({ connectTimeout: 10_000, idleTimeout: 20_000 }, { env: {}, monotonic, sleep });
  onTestFinished(() => connections.close());
  const current = async () => ({ key: 'a-key', token: undefined });
  const credentials = { setBy: 'test', keyHeader: 'X-Service-Key', basicUser: '', current };
  const secrets = new Secrets();
  if (options.secret !== undefined) secrets.add(options.secret);
  const meter = { requests: 0, retries: 0, receivedBytes: 0 };
  const client = new ServiceClient({
    baseUrl: new URL(url),
    credentials: { ...credentials, keyIn: 'authorization', sendsToken: false, renew: async () => false },
    connections,
    limiter: options.limiter ?? new RateLimiter(undefined, { monotonic, sleep }),
    meter,
    // By default -1 retries, so that not even progress allows one.
    retryPolicy: { retries: options.retries ?? -1, maxRetryAfter: 300_000 },
    world: {
      now: Date.now,
      monotonic,
      random: () => 0,
      secrets,
      // The limiter waits for the service’s Retry-After.
      sleep: async (_, aborted) => aborted.throwIfAborted(),
    },
    userAgent: 'test',
    trace: () => {},
  });
  const world = { ...directoryWorld(), monotonic, secrets, ...options.world };
  const nothing = () => {};
  const { retry: noteWait = nothing, signal = new AbortController().signal } = options;
  const bar = { beginResponse: nothing, advance: nothing, noteWait, finish: nothing };
  const directories = new Directories(directory, true, world);
  const context = {
    client,
    directories,
    checksums: writesChecksums ? createChecksumFiles(directories) : undefined,
    throttle: undefined,
    progress: { addFile: () => bar, warnAboutFile: nothing },
    isDryRun: false,
    world,
    signal,
  };
  const run = (fileName: string, target: Target) => {
    const file = { accession: ACCESSION, fileName, size: undefined, filing: undefined };
    return new Download(file, target, context).run();
  };
  return {
    directory,
    meter,
    save(name = 'primary.htm', sha256?: string) {
      const path = join(directory, name);
      return run(name, { path, displayPath: path, ifExists, sha256 });
    },
    pipe(writer: ByteWriter) {
      return run('primary.htm', { open: async () => writer, displayPath: null, sha256: undefined });
    },
    directories,
    names: () => readdir(directory),
    /** The size of the only part, or 0 if there is none. */
    async partBytes() {
      const [name] = await readdir(directory);
      return name === undefined ? 0 : (await stat(join(directory, name))).size;
    },
    read: (name = 'primary.htm') => readFile(join(directory, name)),
  };
}

/** Returns what the directories of a run know of the world. */
export function directoryWorld() {
  return { cwd: '/', platform: process.platform, now: Date.now, random: Math.random, uid: process.geteuid?.(), sleep };
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

/** `test` with an empty directory. */
export const test = vitestTest.extend('directory', temporaryDirectory);

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
