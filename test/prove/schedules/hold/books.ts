import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessionOf } from '../archive.ts';
import type { Process } from '../process.ts';
import type { Scene } from '../schedule.ts';
import { standing } from './disk.ts';
import { reportOf } from './report.ts';

const DONE = /^(\d{10}-\d\d-\d{6})\t[0-9a-f]{16}\t\S+Z\t(\d+)$/;
const SUM = /^([0-9a-f]{64}) [ *](.+)$/;

function linesOf(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
}

/** Filings that the done list has. */
export function doneOf({ place }: Pick<Scene, 'place'>): Set<string> {
  return new Set(linesOf(join(place, 'done')).flatMap((line) => DONE.exec(line)?.[1] ?? []));
}

/** What the done list has is complete. */
export function doneIsTrue(scene: Scene): void {
  const done = doneOf(scene);
  for (const file of scene.files.filter(({ accession }) => done.has(accession))) {
    assert(
      standing(scene, file.accession, file.name),
      `${file.accession} is in the done list, and ${file.name} is not there`,
    );
  }
}

/** The last entry of each name: its hash. */
function sumsOf({ place }: Pick<Scene, 'place'>, accession: string): Map<string, string> {
  const lines = linesOf(join(place, 'out', accession, 'SHA256SUMS'));
  return new Map(
    lines.flatMap((line) => {
      const [, hash = '', name = ''] = SUM.exec(line) ?? [];
      return name ? [[name, hash] as const] : [];
    }),
  );
}

/** What is in SHA256SUMS stands beside it, with that hash. */
export function sumsAreTrue(scene: Scene): void {
  for (let filing = 0; filing < scene.plan.filings.length; filing += 1) {
    const accession = accessionOf(filing);
    for (const [name, hash] of sumsOf(scene, accession)) {
      const there = standing(scene, accession, name);
      assert(there, `SHA256SUMS has ${accession}/${name}, which is not there`);
      assert.equal(hash, there.sha256, `SHA256SUMS: ${accession}/${name}`);
    }
  }
}

/** What a run says it has, it has listed. */
export function sumsAreWhole(scene: Scene, process: Process): void {
  if (!scene.plan.options.checksums || process.dead) return;
  for (const { accession_no, file_name, result } of reportOf(scene, process).files) {
    if (result === 'failed') continue;
    assert(
      sumsOf(scene, accession_no).has(file_name ?? ''),
      `${process.name}: ${accession_no}/${file_name} is not in SHA256SUMS`,
    );
  }
}
