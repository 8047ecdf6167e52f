import { grouped, span } from '../../text.ts';
import { clipped } from '../clipped.ts';
import { humanBytes } from '../units.ts';
import { speed } from './bar-line.ts';

/** How far a run of several files is, as far as that is known. */
export interface Reach {
  /** Files that have ended. */
  readonly files: number;
  /** How many there are in all. */
  readonly of: number | undefined;
  readonly failed: number;
  /** Bytes of the files that have not begun. */
  readonly waiting: number | undefined;
  /** How much of the input has been read, from 0 to 1. */
  readonly share: number | undefined;
}

/** What the screen itself knows of it. */
export interface Moved {
  /** Bytes of this run. */
  readonly bytes: number;
  /** Bytes that the running files still miss; undefined when one of them has told no length. */
  readonly missing: number | undefined;
  /** Bytes a second. */
  readonly rate: number | undefined;
  /** Since it began. Milliseconds. */
  readonly ms: number;
}

const GAP = '  ';
const AMOUNT = 16;

/** The line above those of the running files, narrower than `width` columns: the later fields are dropped first. */
export function overallLine(reach: Reach, moved: Moved, width: number): string {
  const due = reach.waiting === undefined || moved.missing === undefined ? undefined : reach.waiting + moved.missing;
  const fields = [filesOf(reach), amount(moved.bytes, due), speed(moved.rate), rest(reach, moved, due)];
  let line = clipped(fields[0] ?? '', width - 1);
  for (const field of fields.slice(1)) {
    if (line.length + GAP.length + field.length >= width) break;
    line += GAP + field;
  }
  return line.trimEnd();
}

function filesOf({ files, of, failed }: Reach): string {
  const counted =
    of === undefined
      ? `${grouped(files)} ${files === 1 ? 'file' : 'files'} so far`
      : `${grouped(files)} of ${grouped(of)} files`;
  return failed > 0 ? `${counted}, ${grouped(failed)} failed` : counted;
}

function amount(bytes: number, due: number | undefined): string {
  return (due === undefined ? humanBytes(bytes) : `${humanBytes(bytes)} of ${humanBytes(bytes + due)}`).padStart(
    AMOUNT,
  );
}

/** How long it takes: by bytes where all are known, else by the share of the files or of the input that is done. */
function rest(reach: Reach, { rate, ms }: Moved, due: number | undefined): string {
  if (due !== undefined) return rate === undefined || rate < 1 ? '' : `${span(due / rate, Math.ceil)} left`;
  const { files, of, share } = reach;
  const part = of ? files / of : share;
  const read = of === undefined && share !== undefined ? `${Math.floor(share * 100)} % of the input read, ` : '';
  if (!part || part >= 1) return read.replace(/, $/, '');
  return `${read}about ${span((ms * (1 - part)) / part / 1000, Math.round)} left`;
}
