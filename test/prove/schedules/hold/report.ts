import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Process } from '../process.ts';
import type { Scene } from '../schedule.ts';
import { standing } from './disk.ts';

export interface FileLine {
  readonly accession_no: string;
  readonly file_name: string | null;
  readonly result: 'downloaded' | 'resumed' | 'skipped' | 'failed';
  readonly bytes: number;
  readonly sha256?: string;
  readonly error?: { readonly code: string; readonly exit_code: number };
}

export interface Summary {
  readonly downloaded: number;
  readonly resumed: number;
  readonly skipped: number;
  readonly failed: number;
  readonly bytes: number;
  readonly requests: number;
  readonly exit_code: number;
  readonly stopped_by?: string;
}

export interface Report {
  readonly files: readonly FileLine[];
  readonly summary: Summary | undefined;
}

/** A run's report; a line that a full disk has torn is passed over. */
export function reportOf({ place }: Pick<Scene, 'place'>, { name, diskFailures }: Process): Report {
  const path = join(place, `${name.replace(' ', '')}.jsonl`);
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  const read = lines
    .filter((line) => line !== '')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as FileLine | { readonly summary: Summary }];
      } catch {
        assert(diskFailures > 0, `${name}: a torn line in its report`);
        return [];
      }
    });
  const last = read.at(-1);
  return {
    files: read.filter((line): line is FileLine => 'result' in line),
    summary: last && 'summary' in last ? last.summary : undefined,
  };
}

/** What a report says of a file is so, at any time, and is said once. */
export function reportIsTrue(scene: Scene, process: Process): void {
  const { files } = reportOf(scene, process);
  const seen = new Set<string>();
  for (const line of files) {
    const key = `${line.accession_no}/${line.file_name}`;
    assert(!seen.has(key), `${process.name} reports ${key} twice`);
    seen.add(key);
    if (line.result === 'failed') continue;
    const there = standing(scene, line.accession_no, line.file_name);
    assert(there, `${process.name} reports ${key} as ${line.result}, and it is not there`);
    assert.equal(line.bytes, there.length, `${process.name}: the size of ${key}`);
    if (line.sha256 !== undefined) assert.equal(line.sha256, there.sha256, `${process.name}: the hash of ${key}`);
  }
}

/** The last line sums up what the others say. */
export function summaryIsTrue(scene: Scene, process: Process): void {
  const { files, summary } = reportOf(scene, process);
  if (process.dead || process.diskFailures > 0) return;
  // Interrupted while it opened its books, it has not begun.
  if (!summary && process.interrupted && files.length === 0) return;
  assert(summary, `${process.name} has no summary`);
  for (const result of ['downloaded', 'resumed', 'skipped', 'failed'] as const) {
    assert.equal(summary[result], files.filter((line) => line.result === result).length, `${process.name}: ${result}`);
  }
  assert.equal(summary.exit_code, process.exitCode, `${process.name}: exit_code`);
}
