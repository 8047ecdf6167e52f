import { createHash } from 'node:crypto';
import { isKeptName, isPartName } from '../../../src/disk/part-name.ts';
import { readReport } from '../../program/batch.ts';
import type { Tree } from './crash-state.ts';
import { bodyOf, namesOf } from './service.ts';

/** The allowed content of a tree. */
export interface Expectation {
  /** Versions of the service so far. */
  readonly versions: readonly number[];
  /** Files that existed before the runs, by path. */
  readonly old: Tree;
}

const OUT = 'out/';

/** Returns the faults of a tree after a power cut. `stdout` is the standard output so far. */
export function faultsOf(tree: Tree, stdout: string, expectation: Expectation): string[] {
  const faults: string[] = [];
  const stands = (path: string) => isWhole(path, tree.get(path), expectation);
  const claim = (who: string, path: string) =>
    stands(path) || faults.push(`${who} claims ${path}, which does not stand`);
  for (const [path, content] of tree) {
    const [, number = '', name = ''] = /^out\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
    if (name === 'SHA256SUMS') {
      for (const [file, sha256] of sumsIn(content)) {
        claim('SHA256SUMS', `${OUT}${number}/${file}`);
        const found = tree.get(`${OUT}${number}/${file}`);
        if (found && createHash('sha256').update(found).digest('hex') !== sha256 && !mayDiffer(expectation))
          faults.push(`the hash of ${path}/${file} is another`);
      }
    } else if (name.startsWith('.')) {
      if (!isPartName(name) && !isKeptName(name)) faults.push(`${path} is no part`);
    } else if (number !== '' && !stands(path)) faults.push(`${path} is neither whole nor old: ${content.length} bytes`);
  }
  for (const [path, content] of expectation.old) {
    if (/^out\//.test(path) && content.length > 0 && !tree.has(path)) faults.push(`${path} stood there, and is gone`);
  }
  for (const line of linesOf(tree.get('done'))) {
    const [, number] = /^(\d{10}-\d\d-\d{6})\t[\da-f]{16}\t[^\t]+\t\d+$/.exec(line) ?? [];
    if (number === undefined) continue;
    const listed = new Set(sumsIn(tree.get(`${OUT}${number}/SHA256SUMS`) ?? Buffer.alloc(0)).map(([name]) => name));
    for (const name of namesOf(number)) {
      claim('the done list', `${OUT}${number}/${name}`);
      if (!listed.has(name)) faults.push(`the done list has ${number}, whose ${name} has no checksum`);
    }
  }
  for (const [who, text] of Object.entries({ 'the report': tree.get('report'), 'standard output': stdout })) {
    for (const { path, result, bytes } of readReport(linesOf(text).join('\n')).files) {
      if (!['downloaded', 'resumed', 'skipped'].includes(result) || path === null) continue;
      claim(who, path);
      const there = tree.get(path)?.length;
      if (there !== undefined && there !== bytes && !mayDiffer(expectation))
        faults.push(`${who} says ${bytes} of ${path}, which has ${there}`);
    }
  }
  return faults;
}

/** True if `verify` reports only lines that the power cut has torn. A checksum file is only appended to. */
export function isSound(exitCode: number | undefined, stdout: string): boolean {
  return exitCode === 0 ? /^(torn\t.*\n)*$/.test(stdout) : exitCode === 9 && /^((damaged|torn)\t.*\n)+$/.test(stdout);
}

/** Entries for an old version may exist beside a new file. */
function mayDiffer({ versions, old }: Expectation): boolean {
  return versions.length > 1 || old.size > 0;
}

/** True if the content is the old file or a version of the service. */
function isWhole(path: string, content: Buffer | undefined, { versions, old }: Expectation): boolean {
  const [, number = '', name = ''] = /^out\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  if (content === undefined) return false;
  return old.get(path)?.equals(content) || versions.some((version) => bodyOf(number, name, version).equals(content));
}

/** Complete lines. A torn line claims nothing. */
function linesOf(text: Buffer | string | undefined): string[] {
  return (text ?? '').toString().split('\n').slice(0, -1);
}

function sumsIn(content: Buffer): [name: string, sha256: string][] {
  return linesOf(content).flatMap((line) => {
    const [, sha256 = '', name] = /^([\da-f]{64}) [ *]([\w.-]+)$/.exec(line) ?? [];
    return name === undefined ? [] : [[name, sha256] as [string, string]];
  });
}
