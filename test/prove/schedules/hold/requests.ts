import assert from 'node:assert/strict';
import type { Asked } from '../asked.ts';
import type { Process } from '../process.ts';
import type { Scene } from '../schedule.ts';
import { reportOf } from './report.ts';

/** Clocks count whole milliseconds. */
const ROUNDING_MS = 1;

export function askedBy({ service }: Pick<Scene, 'service'>, process: Process): Asked[] {
  return service.asked.filter((asked) => asked.process === process);
}

/** Nobody asks before the time that the service has named. */
export function waitsAreKept(scene: Scene, process: Process): void {
  const asked = askedBy(scene, process);
  for (const { wholeAt, until } of asked) {
    if (wholeAt === undefined || until === undefined) continue;
    const early = asked.find(({ at }) => at > wholeAt && at < until - ROUNDING_MS);
    assert(!early, `${process.name} asks at ${early?.at}, and was told at ${wholeAt} to wait until ${until}`);
  }
}

/** No window of time has more requests than the rate allows it. */
export function rateIsKept(scene: Scene, process: Process, ratePerSecond: number): void {
  const times = askedBy(scene, process).map(({ at }) => at);
  times.forEach((at, nth) => {
    const [before] = times.slice(nth - 1, nth);
    if (nth === 0 || before === undefined) return;
    assert(
      at - before >= 1000 / ratePerSecond - ROUNDING_MS,
      `${process.name} asks at ${before} and at ${at}, with --rate ${ratePerSecond}/s`,
    );
  });
}

/** What a run may use it does not go over, and what it has used it knows. */
export function limitsAreKept(scene: Scene, process: Process, isLast: boolean): void {
  const { maxRequests, maxBytes, ratePerSecond } = isLast ? ({} as Scene['plan']['options']) : scene.plan.options;
  const asked = askedBy(scene, process);
  if (ratePerSecond !== undefined) rateIsKept(scene, process, ratePerSecond);
  if (maxRequests !== undefined)
    assert(asked.length <= maxRequests, `${process.name}: ${asked.length} requests of ${maxRequests}`);
  const { files, summary } = reportOf(scene, process);
  if (summary)
    assert(summary.requests >= asked.length, `${process.name} counts ${summary.requests} requests of ${asked.length}`);
  const kept = files.filter(({ result }) => result === 'downloaded').reduce((sum, { bytes }) => sum + bytes, 0);
  if (maxBytes !== undefined) assert(kept <= maxBytes, `${process.name}: ${kept} bytes of ${maxBytes}`);
}

/** The key goes to the service's own address, and to no other. */
export function keyStaysAtHome(scene: Scene, process: Process): void {
  for (const { hasKey, isAway, accession, file } of askedBy(scene, process)) {
    const what = `${process.name} asks for ${accession}/${file?.name}`;
    assert(hasKey !== isAway, isAway ? `${what} elsewhere, with the key` : `${what} without the key`);
  }
}
