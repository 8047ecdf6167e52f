import assert from 'node:assert/strict';
import type { Fault } from '../plan.ts';
import type { Process } from '../process.ts';
import type { Scene } from '../schedule.ts';
import { doneOf } from './books.ts';
import { type FileLine, reportOf } from './report.ts';
import { askedBy } from './requests.ts';

const INTERRUPTED = 130;
/** What is still told gets so long. */
const LAST_WORDS_MS = 1001;

/** --max-retry-after: whoever is to wait longer does not. */
const LONGEST_WAIT_MS = 300_000;

/** The codes that a failure may have, of what the service did. */
const CODES: Readonly<Partial<Record<Fault['kind'], readonly string[]>>> = {
  fin: ['temporary', 'integrity'],
  reset: ['temporary', 'integrity'],
  'unseen-reset': ['temporary', 'integrity'],
  stall: ['temporary'],
  drip: ['temporary'],
  unavailable: ['temporary'],
  'wait-seconds': ['temporary'],
  'wait-date': ['temporary'],
  'not-found': ['not_found'],
  'wrong-range': ['integrity'],
  surplus: ['integrity'],
};

/** The exit code is what the interface page says for what is in the report. */
export function exitIsRight(scene: Scene, process: Process): void {
  const { exitCode, interrupted, diskFailures, name } = process;
  const { files, summary } = reportOf(scene, process);
  if (exitCode === INTERRUPTED) assert(interrupted, `${name} says it was interrupted`);
  if (exitCode === 8 || !summary) assert(diskFailures > 0 || interrupted, `${name}: the disk did not fail`);
  if (exitCode === INTERRUPTED || exitCode === 8 || !summary) return;
  const failed = files.filter(({ result }) => result === 'failed');
  const allTemporary = failed.every(({ error }) => error?.code === 'temporary');
  const expected = failed.length > 0 ? (allTemporary ? 7 : 3) : summary.stopped_by === 'limit' ? 10 : 0;
  const byDeadline = exitCode === 7 && summary.stopped_by === 'temporary';
  if (!byDeadline)
    assert.equal(
      exitCode,
      expected,
      `${name}: its exit code, with ${failed.length} failed and stopped by ${summary.stopped_by}`,
    );
  if (summary.stopped_by === undefined) allAreReported(scene, process, files);
}

/** A run that nothing stopped has each file in its report, or its filing as failed or done. */
function allAreReported(scene: Scene, { name }: Process, lines: readonly FileLine[]): void {
  const [done, told] = [doneOf(scene), new Set(lines.map((line) => `${line.accession_no}/${line.file_name}`))];
  for (const { accession, name: file } of scene.files) {
    const isTold = told.has(`${accession}/${file}`) || told.has(`${accession}/null`) || done.has(accession);
    assert(isTold, `${name} ends, and says nothing of ${accession}/${file}`);
  }
}

/** Nothing fails without a reason that the service gave. */
export function failuresHaveReasons(scene: Scene, process: Process): void {
  const { files } = reportOf(scene, process);
  const isStopped =
    isSentAway(scene, process) ||
    process.interrupted ||
    process.diskFailures > 0 ||
    scene.plan.options.deadlineSeconds !== undefined;
  if (isStopped) return;
  for (const { accession_no, file_name, error } of files) {
    if (!error) continue;
    const asked = askedBy(scene, process).filter(
      ({ accession, file }) => accession === accession_no && (file?.name ?? null) === file_name,
    );
    const allowed = new Set(asked.flatMap(({ fault }) => CODES[fault] ?? []));
    if (scene.plan.ranges !== 'kept') for (const code of CODES.fin ?? []) allowed.add(code);
    if (process.unreached > 0) allowed.add('temporary');
    // The end that follows an answer may cut the next one on that connection.
    if (askedBy(scene, process).some(({ fault }) => fault === 'close-idle'))
      for (const code of CODES.fin ?? []) allowed.add(code);
    assert(
      allowed.has(error.code),
      `${process.name}: ${accession_no}/${file_name} fails as ${error.code}, after ${asked.map(({ fault }) => fault)}`,
    );
  }
}

/** It is to wait for longer than it does. */
function isSentAway(scene: Scene, process: Process): boolean {
  return askedBy(scene, process).some(({ at, until = 0 }) => until - at > LONGEST_WAIT_MS);
}

/** A run is not stopped by what the service does, unless it was to wait for too long, or by many connections that fail. */
export function stopsHaveReasons(scene: Scene, process: Process): void {
  const { summary } = reportOf(scene, process);
  if (summary?.stopped_by !== 'temporary') return;
  const isStopped =
    isSentAway(scene, process) || process.unreached >= 10 || scene.plan.options.deadlineSeconds !== undefined;
  assert(isStopped, `${process.name} was stopped, and nobody has told it to wait for long`);
}

/** The deadline ends a run. */
export function deadlineIsKept({ plan }: Scene, { name, startedAt, endedAt, dead }: Process): void {
  const { deadlineSeconds } = plan.options;
  if (deadlineSeconds === undefined || endedAt === undefined || dead) return;
  const ms = endedAt - startedAt;
  assert(
    ms <= deadlineSeconds * 1000 + LAST_WORDS_MS,
    `${name} has run for ${ms} ms, with --deadline ${deadlineSeconds}s`,
  );
}
