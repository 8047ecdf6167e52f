import { expect, test } from 'vitest';
import { search } from '../hostile/search.ts';
import { searchStories } from '../hostile/stories.ts';

// The same each time, so that a change is judged by itself; scripts/hostile-answers.js takes a fresh one, for the long runs of
// docs/guarantees.md. A failure prints the command that has it again.
const seed = Number(process.env.FILINGS_SEED ?? 6000);

test('hostile answers: what curl refuses is never taken, what is taken has curl’s bytes, refusals have a name', async () => {
  const { counts, found } = await search(seed, 600);
  expect(found).toBeUndefined();
  // It is worth something only where many are taken, and many refused.
  const kinds = [...counts.keys()].filter((name) => name.startsWith('stricter'));
  expect(counts.get('same')).toBeGreaterThan(60);
  expect(counts.get('both refuse')).toBeGreaterThan(60);
  expect(kinds.length).toBeGreaterThan(10);
});

test('several answers to one file: one representation, never a mixture, and success in the end', async () => {
  const { counts, found } = await searchStories(seed, { numRuns: 100 });
  expect(found).toBeUndefined();
  expect(counts.ranged).toBeGreaterThan(10);
});
