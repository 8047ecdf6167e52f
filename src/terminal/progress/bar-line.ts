import { humanDuration } from '../../text.ts';
import { clipped } from '../columns.ts';
import { humanBytes } from '../units.ts';
import { displayWidth } from '../width.ts';

/** A transfer as its line shows it. */
export interface BarState {
  /** Printable. */
  readonly name: string;
  /** Bytes there are, those of an earlier run among them. */
  readonly bytes: number;
  readonly total: number | undefined;
  /** Bytes a second; undefined when it is too early to say. */
  readonly rate: number | undefined;
  /** Why nothing moves just now. */
  readonly waiting: string | undefined;
}

const BAR = 20;
/** Below that, the bar gives its room to the numbers. */
const WIDE = 80;

/** The line of a running transfer, at most `width` columns: what is known and nothing else. */
export function barLine(state: BarState, width: number): string {
  const facts = state.waiting ?? [...amounts(state), ...pace(state)].join('  ');
  const bar = state.waiting === undefined && width >= WIDE ? drawn(state) : '';
  const tail = `${bar}  ${facts}`;
  const room = Math.max(8, width - displayWidth(tail) - 1);
  const name = clipped(state.name, room);
  const blanks = ' '.repeat(bar === '' ? 0 : Math.max(0, Math.min(room, 30) - displayWidth(name)));
  return clipped(name + blanks + tail, width - 1);
}

function amounts({ bytes, total }: BarState): string[] {
  if (total === undefined) return [humanBytes(bytes)];
  return [`${percent(bytes, total)}%`.padStart(4), `${humanBytes(bytes)} of ${humanBytes(total)}`];
}

function pace({ bytes, total, rate }: BarState): string[] {
  if (rate === undefined) return [];
  if (total === undefined || rate < 1) return [`${humanBytes(rate)}/s`];
  return [`${humanBytes(rate)}/s`, `${humanDuration(((total - bytes) * 1000) / rate)} left`];
}

function drawn({ bytes, total }: BarState): string {
  if (total === undefined) return '';
  const full = Math.floor((percent(bytes, total) * BAR) / 100);
  return `  [${'='.repeat(full)}${' '.repeat(BAR - full)}]`;
}

/** Never 100 before the last byte. */
function percent(bytes: number, total: number): number {
  return total === 0 ? 100 : Math.min(100, Math.max(0, Math.floor((bytes * 100) / total)));
}
