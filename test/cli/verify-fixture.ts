import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Workplace } from './program.ts';

export const execute = promisify(execFile);
export const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Files of a directory, and a SHA256SUMS that lists them. */
export async function listed(
  place: Workplace,
  directory: string,
  files: Record<string, string | Buffer>,
): Promise<string> {
  const path = join(place.path, directory);
  await mkdir(path, { recursive: true });
  await Promise.all(Object.entries(files).map(([name, bytes]) => writeFile(join(path, name), bytes)));
  const lines = Object.entries(files).map(([name, bytes]) => `${sha256(bytes)}  ${name}\n`);
  await writeFile(join(path, 'SHA256SUMS'), lines.join(''));
  return path;
}

export const linesOf = (text: Buffer) => text.toString('latin1').split('\n').filter(Boolean).sort();

/** What `verify` prints, sorted, and its status. */
export async function verified(place: Workplace, args: readonly string[]) {
  const { stdout, stderr, exitCode } = await place.filings(['verify', ...args]);
  return { lines: linesOf(stdout), stderr, exitCode };
}
