import type { Reach } from '../terminal/progress/running.ts';
import { counted, humanBytes, humanDuration } from '../text.ts';
import type { Counts } from './counts.ts';
import type { Extent } from './selection.ts';

/** How much of an input has been read. */
export interface Read {
  readonly bytes: number;
  /** Of all of it, where that is known. */
  readonly of: number | undefined;
}

const EVERY_MS = 60_000;

/** How far a batch is, as the line above its running files tells it; none for one that turns out to be of one file. */
export function reachOf(counts: Counts, extent: Extent | undefined): Reach | undefined {
  const of = extent?.files;
  if (of !== undefined && of < 2) return undefined;
  return { files: counts.total, of, failed: counts.files.failed, waiting: extent?.waiting };
}

/** Says in each minute how far a batch is, until it is stopped. Holds no process. */
export function sayEachMinute(line: () => string, say: (line: string) => void): () => void {
  const timer = setInterval(() => say(line()), EVERY_MS).unref();
  return () => clearInterval(timer);
}

/** `so far 120 downloaded (2.4 MB), 3,000 skipped, 1 failed; 12 % of the input read, about 3 min left`. */
export function reachLine(counts: Counts, read: Read | undefined, ms: number): string {
  const { downloaded, resumed, skipped, failed } = counts.files;
  const parts = [`${downloaded + resumed} downloaded (${humanBytes(counts.moved)})`, `${skipped} skipped`];
  if (failed > 0) parts.push(`${failed} failed`);
  if (counts.done > 0) parts.push(`${counted(counts.done, 'filing')} done before`);
  if (!read) return `so far ${parts.join(', ')}`;
  if (!read.of) return `so far ${parts.join(', ')}; ${humanBytes(read.bytes)} of the input read`;
  const part = Math.min(1, read.bytes / read.of);
  const left = part > 0 && part < 1 ? `, about ${humanDuration((ms * (1 - part)) / part)} left` : '';
  return `so far ${parts.join(', ')}; ${Math.floor(part * 100)} % of the input read${left}`;
}
