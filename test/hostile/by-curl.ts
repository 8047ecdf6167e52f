import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Stage } from './stage.ts';

/** The result of curl for an exchange. */
export interface CurlVerdict {
  /** Exit status of curl for this transfer. */
  readonly exit: number;
  readonly status: number;
  readonly words: string;
  /** The saved bytes, if curl reports success. */
  readonly bytes: Buffer | undefined;
}

/** The options of a careful script: HTTP errors are errors, and redirects are followed as far as by `filings`. */
const OPTIONS = [
  'silent',
  'fail',
  'location',
  'max-redirs = 5',
  'http1.1',
  'proto = "=http,https"',
  'insecure',
  'max-time = 30',
  'globoff',
];

/** Downloads files into a directory with curl, one after the other. */
export async function byCurl(stage: Stage, names: readonly string[], directory: string): Promise<CurlVerdict[]> {
  const lines: string[] = [];
  // curl exits with out-of-memory if a head is too long, which ends the process. Another process does the rest.
  while (lines.length < names.length) {
    const results = await curl(configFor(stage, names.slice(lines.length), directory));
    if (results.length === 0) throw new Error('curl tells nothing');
    lines.push(...results);
  }
  return Promise.all(lines.map((line, index) => verdict(line, join(directory, names[index] ?? ''))));
}

/** Each transfer has a host name and therefore a connection of its own. `connect-to` leads all of them to the stage. */
function configFor({ port, url }: Stage, names: readonly string[], directory: string): string {
  const transfers = names.flatMap((name) => [
    `url = "${url.split(':', 1)[0]}://${name}.test:${port}/v1/download?file_name=${name}"`,
    `output = "${join(directory, name)}"`,
  ]);
  const results = 'write-out = "%{exitcode} %{http_code} %{errormsg}\\n"';
  return [...OPTIONS, `connect-to = "::127.0.0.1:${port}"`, results, ...transfers, ''].join('\n');
}

/** Runs curl. Returns one line per transfer. */
async function curl(config: string): Promise<string[]> {
  const child = spawn('curl', ['--disable', '--config', '-'], { env: { PATH: process.env.PATH }, stdio: 'pipe' });
  // The process may have ended before it has read all.
  child.stdin.on('error', () => {}).end(config);
  const [stdout] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return stdout.split('\n').slice(0, -1);
}

async function verdict(line: string, file: string): Promise<CurlVerdict> {
  const [, exit, status, words = ''] = /^(\d+) (\d+) ?(.*)$/s.exec(line) ?? [];
  if (exit === undefined) throw new Error(`curl says what is not to be read: ${line}`);
  // A response without a body creates no file.
  const bytes = exit === '0' ? await readFile(file).catch(() => Buffer.alloc(0)) : undefined;
  return { exit: Number(exit), status: Number(status), words, bytes };
}
