import type { OutputStream } from '../world.ts';

const USUAL = 80;

/** How many columns a terminal has: `COLUMNS`, or 80, where it does not tell itself. Undefined when it is none. */
export function terminalColumns(
  { isTTY, columns }: OutputStream,
  { COLUMNS = '' }: Readonly<Record<string, string | undefined>>,
): number | undefined {
  if (!isTTY) return undefined;
  return columns || (/^[1-9]\d{0,5}$/.test(COLUMNS) ? Number(COLUMNS) : USUAL);
}
