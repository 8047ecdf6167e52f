import assert from 'node:assert/strict';
import { bytesOf, versionOf } from '../archive.ts';
import type { Process } from '../process.ts';

/** What a pipe got is one version of the file, whole where the run says so, or the beginning of one. */
export function pipeHasOneVersion({ piped, out, exitCode, name }: Process): void {
  if (!piped) return;
  const bytes = Buffer.concat(out);
  const isWhole = versionOf(piped, bytes) !== undefined;
  if (exitCode === 0)
    assert(isWhole, `${name} says that all is well, and its pipe got ${bytes.length} bytes of no version`);
  const versions = Array.from({ length: piped.version }, (_, at) => bytesOf(piped, at + 1));
  const isBeginning = versions.some((whole) => whole.subarray(0, bytes.length).equals(bytes));
  assert(isBeginning, `${name}: its pipe got ${bytes.length} bytes that no version begins with`);
}
