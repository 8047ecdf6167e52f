import { expect, test } from 'vitest';
import { search } from '../hostile/search.ts';
import { searchStories } from '../hostile/stories.ts';

// The seed is fixed, so that a failure is caused by a change of the program. scripts/hostile-answers.js takes other
// seeds, for the long runs in docs/guarantees.md. A failure prints the command that repeats it.
const seed = Number(process.env.FILINGS_SEED ?? 6000);

test('accepts no response that curl refuses, saves the same bytes as curl, and refuses only documented kinds', async () => {
  const { counts, found } = await search(seed, 600);
  expect(found).toBeUndefined();
  // The comparison is meaningful only if many responses are accepted and many refused.
  const kinds = [...counts.keys()].filter((name) => name.startsWith('stricter'));
  expect(counts.get('same')).toBeGreaterThan(60);
  expect(counts.get('both refuse')).toBeGreaterThan(60);
  expect(kinds.length).toBeGreaterThan(10);
});

test('completes a file from several cut responses without a mixture of two versions', async () => {
  const { counts, found } = await searchStories(seed, { numRuns: 100 });
  expect(found).toBeUndefined();
  expect(counts.ranged).toBeGreaterThan(10);
});
