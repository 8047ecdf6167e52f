import { setImmediate } from 'node:timers/promises';

/** So many are sorted, or merged, before signals and timers have their turn. */
const AT_ONCE = 8192;

/** The texts in order, by their characters' numbers, however many there are. */
export async function sorted(texts: readonly string[]): Promise<string[]> {
  let runs: string[][] = [];
  for (let from = 0; from < texts.length; from += AT_ONCE) {
    runs.push(texts.slice(from, from + AT_ONCE).sort(byCharacters));
    await setImmediate();
  }
  while (runs.length > 1) {
    const longer: string[][] = [];
    for (let index = 0; index < runs.length; index += 2) longer.push(await merged(runs[index], runs[index + 1]));
    runs = longer;
  }
  return runs[0] ?? [];
}

async function merged(left: readonly string[] = [], right: readonly string[] = []): Promise<string[]> {
  const both: string[] = [];
  for (let [l, r] = [0, 0]; l < left.length || r < right.length; ) {
    const [a, b] = [left[l], right[r]];
    if (a !== undefined && (b === undefined || a <= b)) {
      both.push(a);
      l += 1;
    } else if (b !== undefined) {
      both.push(b);
      r += 1;
    }
    if (both.length % AT_ONCE === 0) await setImmediate();
  }
  return both;
}

function byCharacters(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
