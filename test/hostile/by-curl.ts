import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Stage } from './stage.ts';

/** What curl makes of an exchange. */
export interface CurlVerdict {
  /** curl's own, of this transfer. */
  readonly exit: number;
  readonly status: number;
  readonly words: string;
  /** What it saved, where it says that all is well. */
  readonly bytes: Buffer | undefined;
}

/** As in a careful script: errors of the service are errors, redirects are followed as far as we follow them. */
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

/** Fetches files into a directory, one after the other, by the real curl. */
export async function byCurl(stage: Stage, names: readonly string[], directory: string): Promise<CurlVerdict[]> {
  const lines: string[] = [];
  // Lack of memory, which is what curl calls a head that is too long, ends the whole process: the rest needs another.
  while (lines.length < names.length) {
    const told = await curl(configFor(stage, names.slice(lines.length), directory));
    if (told.length === 0) throw new Error('curl tells nothing');
    lines.push(...told);
  }
  return Promise.all(lines.map((line, index) => verdict(line, join(directory, names[index] ?? ''))));
}

/** Each over a connection of its own: each has a host of its own, and all are led to the stage. */
function configFor({ port, url }: Stage, names: readonly string[], directory: string): string {
  const transfers = names.flatMap((name) => [
    `url = "${url.split(':', 1)[0]}://${name}.test:${port}/v1/download?file_name=${name}"`,
    `output = "${join(directory, name)}"`,
  ]);
  const told = 'write-out = "%{exitcode} %{http_code} %{errormsg}\\n"';
  return [...OPTIONS, `connect-to = "::127.0.0.1:${port}"`, told, ...transfers, ''].join('\n');
}

/** A line for each transfer. */
async function curl(config: string): Promise<string[]> {
  const child = spawn('curl', ['--disable', '--config', '-'], { env: { PATH: process.env.PATH }, stdio: 'pipe' });
  // It may have ended before it has read all.
  child.stdin.on('error', () => {}).end(config);
  const [stdout] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return stdout.split('\n').slice(0, -1);
}

async function verdict(line: string, file: string): Promise<CurlVerdict> {
  const [, exit, status, words = ''] = /^(\d+) (\d+) ?(.*)$/s.exec(line) ?? [];
  if (exit === undefined) throw new Error(`curl says what is not to be read: ${line}`);
  // An answer without a body leaves no file.
  const bytes = exit === '0' ? await readFile(file).catch(() => Buffer.alloc(0)) : undefined;
  return { exit: Number(exit), status: Number(status), words, bytes };
}
