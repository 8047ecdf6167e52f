import type { Reach } from '../terminal/progress/lines.ts';
import type { Progress } from '../terminal/progress/progress.ts';
import { counted, humanBytes, humanDuration } from '../text.ts';
import type { Batch } from './batch.ts';
import type { Counts } from './counts.ts';
import type { Extent } from './selection.ts';

const EVERY_MS = 60_000;

/** What a batch is of. */
export interface Whole {
  readonly counts: Counts;
  readonly batch: Batch;
  /** Bytes of the input, where that is known; false: there is no input. */
  readonly input: number | undefined | false;
  /** Milliseconds since it began. */
  readonly ms: () => number;
}

/** Shows how far a batch is, above its bars or by a line each minute, until it is told to stop. Holds no process. */
export function showReach(whole: Whole, progress: Progress): () => void {
  const { counts, batch } = whole;
  progress.overall(() => reachOf(counts, batch.extent));
  const timer = progress.moves ? undefined : setInterval(() => progress.note(reachLine(whole)), EVERY_MS).unref();
  return () => clearInterval(timer);
}

/** None for a batch that turns out to be of one file. */
function reachOf(counts: Counts, extent: Extent | undefined): Reach | undefined {
  const of = extent?.files;
  if (of !== undefined && of < 2) return undefined;
  return { files: counts.total, of, failed: counts.files.failed, waiting: extent?.waiting };
}

/** `so far 120 downloaded (2.4 MB), 3,000 skipped, 1 failed; 12 % of the input read, about 3 min left`. */
export function reachLine({ counts, batch, input, ms }: Whole): string {
  const { bytesRead } = batch.selection;
  const { downloaded, resumed, skipped, failed } = counts.files;
  const parts = [`${downloaded + resumed} downloaded (${humanBytes(counts.moved)})`, `${skipped} skipped`];
  if (failed > 0) parts.push(`${failed} failed`);
  if (counts.done > 0) parts.push(`${counted(counts.done, 'filing')} done before`);
  const soFar = `so far ${parts.join(', ')}`;
  if (input === false) return soFar;
  if (!input) return `${soFar}; ${humanBytes(bytesRead)} of the input read`;
  const part = Math.min(1, bytesRead / input);
  const left = part > 0 && part < 1 ? `, about ${humanDuration((ms() * (1 - part)) / part)} left` : '';
  return `${soFar}; ${Math.floor(part * 100)} % of the input read${left}`;
}
