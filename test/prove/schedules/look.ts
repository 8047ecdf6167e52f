import { doneIsTrue, sumsAreTrue, sumsAreWhole } from './hold/books.ts';
import { comesToTheEnd } from './hold/calm.ts';
import { filesAreWhole, noLitter, partsAreTheirOwners } from './hold/disk.ts';
import { deadlineIsKept, exitIsRight, failuresHaveReasons } from './hold/ending.ts';
import { reportIsTrue, summaryIsTrue } from './hold/report.ts';
import { limitsAreKept, waitsAreKept } from './hold/requests.ts';
import type { Process } from './process.ts';
import type { Scene } from './schedule.ts';

/** What holds at any time, whoever is in the middle of what. */
export function always(scene: Scene): void {
  filesAreWhole(scene);
  partsAreTheirOwners(scene);
  doneIsTrue(scene);
  sumsAreTrue(scene);
  for (const process of scene.processes) reportIsTrue(scene, process);
}

/** What holds once runs have ended; `isLast`: the one that nobody disturbed. */
export function look(scene: Scene, ended: readonly Process[], isLast: boolean): void {
  always(scene);
  for (const process of ended) {
    noLitter(scene, process);
    waitsAreKept(scene, process);
    limitsAreKept(scene, process, isLast);
    if (process.dead) continue;
    summaryIsTrue(scene, process);
    sumsAreWhole(scene, process);
    exitIsRight(scene, process);
    failuresHaveReasons(scene, process);
    if (!isLast) deadlineIsKept(scene, process);
    if (isLast) comesToTheEnd(scene, process);
  }
}
