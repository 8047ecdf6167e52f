import fc from 'fast-check';
import { retell } from './retell.ts';
import { STORY, type Story } from './story.ts';

/** Tells stories until one breaks the rule, which is then shrunk; `path` is that of a failure, to have it again. */
export async function searchStories(seed: number, { numRuns, path }: { numRuns: number; path?: string | undefined }) {
  const counts = { stories: 0, requests: 0, ranged: 0, runs: 0 };
  let why = '';
  const obeys = async (story: Story) => {
    const { fault, requests, ranged, runs } = await retell(story);
    counts.stories += 1;
    counts.requests += requests;
    counts.ranged += ranged;
    counts.runs += runs;
    if (fault) why = fault;
    return fault === undefined;
  };
  const checked = await fc.check(fc.asyncProperty(STORY, obeys), {
    seed,
    numRuns,
    ...(path === undefined ? {} : { path }),
  });
  if (!checked.failed) return { counts, found: undefined };
  const again = `node scripts/hostile-answers.js --stories --seed ${seed} --path ${checked.counterexamplePath}`;
  return { counts, found: `${why}\n${JSON.stringify(checked.counterexample?.[0])}\n${again}` };
}
