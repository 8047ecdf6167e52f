import type { Reach } from '../../../terminal/progress/running.ts';
import type { Tally } from '../../../transfer/mirror/tally.ts';
import type { Extent } from '../../../transfer/selection/expansion.ts';
import type { Lines } from './lines.ts';

/** How far a batch is, as the line above its running files tells it; none for one that turns out to be of one file. */
export function reachOf(tally: Tally, { files }: Lines, extent: Extent | undefined): Reach | undefined {
  const of = extent?.files ?? files;
  if (of !== undefined && of < 2) return undefined;
  return {
    files: tally.total,
    of,
    failed: tally.files.failed,
    waiting: extent?.waiting,
  };
}
