import { createHash } from 'node:crypto';
import { isKeptPartName, isWorkingPartName } from '../../../src/disk/part-name.ts';
import { readReport } from '../../program/batch.ts';
import type { Tree } from './crash-state.ts';
import { bodyOf, namesOf, SENT_BYTES } from './service.ts';

/** The allowed content of a tree. */
export interface Expectation {
  /** Versions of the service so far. */
  readonly versions: readonly number[];
  /** Files that existed before the runs, by path. */
  readonly old: Tree;
}

/** Returns the faults of a tree after a power cut. `stdout` is the standard output so far. */
export function faultsOf(tree: Tree, stdout: string, { versions, old }: Expectation): string[] {
  const faults: string[] = [];
  const mayDiffer = versions.length > 1 || old.size > 0;
  const bodiesOf = (path: string) => versions.map((version) => bodyOf(path.replace('out/', ''), version));
  const stands = (path: string) => {
    const content = tree.get(path);
    return content !== undefined && [old.get(path), ...bodiesOf(path)].some((each) => each?.equals(content));
  };
  const claim = (who: string, path: string) => {
    if (!stands(path)) faults.push(`${who} claims ${path}, which does not stand`);
  };
  for (const [path, content] of tree) {
    const [, folder = '', name = ''] = /^(out\/[^/]+\/)([^/]+)$/.exec(path) ?? [];
    if (name === 'SHA256SUMS') {
      // An entry may be ahead of its file, but never behind it. The last entry for a name counts.
      for (const [file, sha256] of new Map(sumsIn(content))) {
        const inTime = [old.get(folder + file), ...bodiesOf(folder + file)].map((bytes) => bytes && hashOf(bytes));
        const found = tree.get(folder + file);
        if (found && inTime.lastIndexOf(sha256) < inTime.indexOf(hashOf(found)))
          faults.push(`the entry of ${folder}${file} is behind it`);
      }
    } else if (isKeptPartName(name)) {
      const bodies = bodiesOf(folder + name.slice(1).replace('.filings-resume', ''));
      if (!bodies.some((body) => body.subarray(0, SENT_BYTES).equals(content.subarray(0, SENT_BYTES))))
        faults.push(`${path} is not what the service sent`);
    } else if (name.startsWith('.')) {
      if (!isWorkingPartName(name)) faults.push(`${path} is no part`);
    } else if (name !== '' && !stands(path)) faults.push(`${path} is neither whole nor old: ${content.length} bytes`);
  }
  for (const path of old.keys()) if (!tree.has(path)) faults.push(`${path} stood there, and is gone`);
  for (const line of linesOf(tree.get('done'))) {
    const [, number] = /^(\d{10}-\d\d-\d{6})\t[\da-f]{16}\t[^\t]+\t\d+$/.exec(line) ?? [];
    if (number === undefined) continue;
    const listed = new Map(sumsIn(tree.get(`out/${number}/SHA256SUMS`)));
    for (const name of namesOf(number)) {
      claim('the done list', `out/${number}/${name}`);
      if (!listed.has(name)) faults.push(`the done list has ${number}, whose ${name} has no checksum`);
    }
  }
  for (const [who, text] of Object.entries({ 'the report': tree.get('report'), 'standard output': stdout })) {
    for (const { path, result, bytes } of readReport(linesOf(text).join('\n')).files) {
      if (!['downloaded', 'resumed', 'skipped'].includes(result) || path === null) continue;
      claim(who, path);
      const there = tree.get(path)?.length;
      if (there !== undefined && there !== bytes && !mayDiffer)
        faults.push(`${who} says ${bytes} of ${path}, which has ${there}`);
    }
  }
  return faults;
}

/** True if `verify` reports only lines that the power cut has torn. A checksum file is only appended to. */
export function isSound(exitCode: number, stdout: string): boolean {
  return exitCode === 0 ? /^(torn\t.*\n)*$/.test(stdout) : exitCode === 9 && /^((damaged|torn)\t.*\n)+$/.test(stdout);
}

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Complete lines. A torn line claims nothing. */
function linesOf(text: Buffer | string = ''): string[] {
  return text.toString().split('\n').slice(0, -1);
}

function sumsIn(content: Buffer | undefined): [name: string, sha256: string][] {
  const lines = linesOf(content).map((line) => /^([\da-f]{64}) [ *]([\w.-]+)$/.exec(line) ?? []);
  return lines.flatMap(([, sha256 = '', name]) => (name === undefined ? [] : [[name, sha256]]));
}
