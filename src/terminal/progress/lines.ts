import { barLine } from './bar-line.ts';
import { overallLine } from './overall-line.ts';
import type { Shown } from './running.ts';

/** What moves as lines, each narrower than `width` columns. To measure them takes tables of signs, which take long to load. */
export function linesOf({ overall, files }: Shown, width: number): string[] {
  const head = overall ? [overallLine(...overall, width)] : [];
  return [...head, ...files.map((state) => barLine(state, width))];
}
