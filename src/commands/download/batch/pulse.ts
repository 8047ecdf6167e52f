import { humanBytes } from '../../../terminal/units.ts';
import { counted, humanDuration } from '../../../text.ts';
import type { Tally } from '../../../transfer/mirror/tally.ts';

/** How far a batch is, as its line of each minute tells it. */
export interface Reach {
  readonly tally: Tally;
  /** Of the input, where there is one. */
  readonly read: { readonly bytes: number; readonly of: number | undefined } | undefined;
  /** Milliseconds. */
  readonly ms: number;
}

const EVERY_MS = 60_000;

/** Says in each minute how far a batch is, until it is stopped. Holds no process. */
export function startPulse(reach: () => Reach, say: (line: string) => void, everyMs = EVERY_MS): () => void {
  const timer = setInterval(() => say(reachLine(reach())), everyMs).unref();
  return () => clearInterval(timer);
}

/** `so far 120 downloaded (2.4 MB), 3,000 skipped, 1 failed; 12 % of the input read, about 3 min left`. */
function reachLine({ tally, read, ms }: Reach): string {
  const { downloaded, resumed, skipped, failed } = tally.files;
  const counts = [`${downloaded + resumed} downloaded (${humanBytes(tally.moved)})`, `${skipped} skipped`];
  if (failed > 0) counts.push(`${failed} failed`);
  if (tally.done > 0) counts.push(`${counted(tally.done, 'filing')} done before`);
  if (!read) return `so far ${counts.join(', ')}`;
  if (!read.of) return `so far ${counts.join(', ')}; ${humanBytes(read.bytes)} of the input read`;
  const part = Math.min(1, read.bytes / read.of);
  const left = part > 0 && part < 1 ? `, about ${humanDuration((ms * (1 - part)) / part)} left` : '';
  return `so far ${counts.join(', ')}; ${Math.floor(part * 100)} % of the input read${left}`;
}
