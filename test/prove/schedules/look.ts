import { doneIsTrue, sumsAreTrue } from './hold/books.ts';
import { comesToTheEnd } from './hold/calm.ts';
import { findsAllRight, nothingIsLeftBeside, sumsStay } from './hold/checking.ts';
import { filesAreWhole, noLitter, partsAreTheirOwners } from './hold/disk.ts';
import { deadlineIsKept, exitIsRight, failuresHaveReasons, stopsHaveReasons } from './hold/ending.ts';
import { pipeHasOneVersion } from './hold/piping.ts';
import { reportIsTrue, summaryIsTrue } from './hold/report.ts';
import { keyStaysAtHome, limitsAreKept, waitsAreKept } from './hold/requests.ts';
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
  sumsStay(scene);
  for (const process of ended) {
    keyStaysAtHome(scene, process);
    waitsAreKept(scene, process);
    if (process.does === 'pipe') pipeHasOneVersion(process);
    else if (process.does === 'download') lookAtDownload(scene, process, isLast);
    else {
      if (!process.dead) findsAllRight(scene, process);
      if (isLast) nothingIsLeftBeside(scene, process);
    }
  }
}

/** What a batch says of itself. */
function lookAtDownload(scene: Scene, process: Process, isLast: boolean): void {
  noLitter(scene, process);
  limitsAreKept(scene, process, isLast);
  if (process.dead) return;
  summaryIsTrue(scene, process);
  exitIsRight(scene, process);
  failuresHaveReasons(scene, process);
  stopsHaveReasons(scene, process);
  if (!isLast) deadlineIsKept(scene, process);
  if (isLast) comesToTheEnd(scene, process);
}
