import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts';

export const KEY = 'k y/+%?&=1';
export const ACCESSION = '0001234567-24-000001';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Running extends Sandbox {
  readonly directory: string;
  readonly lines: string[];
  /** A GET with the right key unless other headers are given. */
  get(target: string, headers?: Record<string, string | string[]>, method?: string): Promise<Reply>;
}

/** Files by their paths below the served directory. */
export type Files = Readonly<Record<string, string | Buffer>>;

export async function sandbox(files: Files = {}, options: Partial<SandboxOptions> = {}): Promise<Running> {
  const directory = await mkdtemp(join(tmpdir(), 'filings-sandbox-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) await put(directory, path, content);
  const lines: string[] = [];
  const log = (line: string) => lines.push(line);
  const defaults = { directory, host: '127.0.0.1', port: 0, apiKey: KEY, jwtKeys: [], now: Date.now, sleep, log };
  const running = await startSandbox({ ...defaults, ...options });
  onTestFinished(() => running.close());
  return {
    ...running,
    directory,
    lines,
    get: (target, headers = { 'X-Service-Key': KEY }, method = 'GET') => exchange(running, target, headers, method),
  };
}

export async function put(directory: string, path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(join(directory, path)), { recursive: true });
  await writeFile(join(directory, path), content);
}

/** The target of a download. */
export function download(name: string, accession = ACCESSION): string {
  return `/v1/download?${new URLSearchParams({ accession_no: accession, file_name: name })}`;
}

export function json(reply: Reply): Record<string, unknown> {
  return JSON.parse(reply.body.toString());
}

async function exchange(
  { port }: Sandbox,
  path: string,
  headers: Record<string, string | string[]>,
  method: string,
): Promise<Reply> {
  const asked = request({ host: '127.0.0.1', port, path, headers, method, agent: false }).end();
  const [response]: IncomingMessage[] = await once(asked, 'response');
  if (!response) throw new Error('no answer');
  return { status: response.statusCode ?? 0, headers: response.headers, body: await buffer(response) };
}
