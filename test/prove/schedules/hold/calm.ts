import assert from 'node:assert/strict';
import type { Process } from '../process.ts';
import type { Scene } from '../schedule.ts';
import { doneOf } from './books.ts';
import { leftovers, standing } from './disk.ts';
import { reportOf } from './report.ts';
import { askedBy } from './requests.ts';

/** Whatever happened before: a run that nobody disturbs comes to the end, and asks for nothing that was there. */
export function comesToTheEnd(scene: Scene, process: Process): void {
  assert.equal(process.exitCode, 0, `${process.name}: its exit code`);
  for (const file of scene.files)
    assert(standing(scene, file.accession, file.name), `${file.accession}/${file.name} is missing in the end`);
  const told = new Set(
    reportOf(scene, process).files.map(({ accession_no, file_name }) => `${accession_no}/${file_name}`),
  );
  // The disk is not touched for filings that were done before.
  const left = leftovers(scene).filter(({ of }) => told.has(of));
  assert.deepEqual(
    left.map(({ path }) => path),
    [],
    'left over in the end',
  );
  if (scene.plan.options.done)
    assert.equal(doneOf(scene).size, scene.plan.filings.length, 'filings in the done list in the end');
  const skipped = reportOf(scene, process).files.filter(({ result }) => result === 'skipped');
  for (const { accession_no, file_name } of skipped) {
    const again = askedBy(scene, process).some(
      ({ accession, file }) => accession === accession_no && file?.name === file_name,
    );
    assert(!again, `${accession_no}/${file_name} was there, and was asked for again`);
  }
}
