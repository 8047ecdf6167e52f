import assert from 'node:assert/strict';
import type { Process } from '../process.ts';
import type { Scene } from '../schedule.ts';
import { sumsAreWhole } from './books.ts';
import { rewritings } from './disk.ts';

const [NOTHING_LISTED, DISK, INTEGRITY, INTERRUPTED] = [2, 8, 9, 130];

/** Whoever checks finds nothing wrong: what is listed stands, at any time. */
export function findsAllRight(
  { processes }: Scene,
  { name, exitCode, hadSums, interrupted, diskFailures }: Process,
): void {
  const isTorn = processes.some((each) => each.diskFailures > 0);
  const allowed = [
    0,
    ...(hadSums ? [] : [NOTHING_LISTED]),
    ...(interrupted ? [INTERRUPTED] : []),
    ...(diskFailures > 0 ? [DISK] : []),
    // Half a name may be left of a line that a full disk has torn.
    ...(isTorn ? [INTEGRITY] : []),
  ];
  assert(exitCode !== undefined && allowed.includes(exitCode), `${name}: a check ends with ${exitCode}`);
}

/** Whatever was said of a file's checksum is still listed, though others have rewritten the lists. */
export function sumsStay(scene: Scene): void {
  // Killed between the rename and the copying of what came late, it may lose that.
  if (
    scene.processes.some(
      ({ does, dead, interrupted, diskFailures }) => does === 'prune' && (dead || interrupted || diskFailures > 0),
    )
  )
    return;
  for (const process of scene.processes) sumsAreWhole(scene, process);
}

/** A rewrite that nobody disturbs takes away what others have left of theirs. */
export function nothingIsLeftBeside(scene: Scene, { name }: Process): void {
  assert.deepEqual(rewritings(scene), [], `${name} leaves what stands beside a checksum file`);
}
