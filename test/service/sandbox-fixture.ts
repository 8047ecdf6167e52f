import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts';
import { temporaryDirectory } from './transfer-fixture.ts';

export const KEY = 'k y/+%?&=1';
export const ACCESSION = '0001234567-24-000001';

export type Running = Awaited<ReturnType<typeof sandbox>>;

/** Serves files, given by their paths below the served directory, until the test has ended. */
export async function sandbox(
  files: Readonly<Record<string, string | Buffer>> = {},
  { now = Date.now, ...options }: Partial<SandboxOptions> & { readonly now?: () => number } = {},
) {
  const directory = await temporaryDirectory();
  for (const [path, content] of Object.entries(files)) await put(directory, path, content);
  const lines: string[] = [];
  const log = (line: string) => lines.push(line);
  const { platform } = process;
  const running = await startSandbox({ directory, apiKey: KEY, log, ...options }, { platform, now });
  onTestFinished(() => running.close());
  const { port } = running;
  type Fields = Record<string, string | string[]>;
  /** Sends a request with the right key unless other headers are given. */
  async function get(path: string, headers: Fields = { 'X-Service-Key': KEY }, method = 'GET') {
    const clientRequest = request({ host: '127.0.0.1', port, path, headers, method, agent: false }).end();
    const [response] = (await once(clientRequest, 'response')) as [IncomingMessage];
    return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
  }
  return { ...running, directory, lines, get };
}

export async function put(directory: string, path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(join(directory, path)), { recursive: true });
  await writeFile(join(directory, path), content);
}

/** Returns the target of a download. */
export function download(name: string, accession = ACCESSION): string {
  return `/v1/download?${new URLSearchParams({ accession_no: accession, file_name: name })}`;
}

export function json({ body }: { readonly body: Buffer }): Record<string, unknown> {
  return JSON.parse(body.toString());
}
