import { parseArgs } from 'node:util';
import { type Counts, type Found, replay, search, shrunk } from './search.ts';
import { searchStories } from './stories.ts';

/** What scripts/hostile-answers.js runs: gives the exit status. */
export async function command(args: readonly string[], say: (text: string) => void): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      answers: { type: 'string', default: '1000' },
      seed: { type: 'string', default: `${Date.now() % 1_000_000_000}` },
      path: { type: 'string' },
      stories: { type: 'boolean', default: false },
    },
  });
  const seed = Number(values.seed);
  if (values.stories) {
    return tellStories(
      seed,
      { path: values.path, numRuns: values.path === undefined ? Number(values.answers) : 1 },
      say,
    );
  }
  if (values.path !== undefined) return tell(await shrunk(seed, values.path), say);
  const started = performance.now();
  const { counts, found, answers } = await search(seed, Number(values.answers), (soFar) => {
    const seconds = (performance.now() - started) / 1000;
    say(`seed ${seed}: ${sum(soFar)} answers in ${seconds.toFixed(0)} s\n`);
  });
  for (const [name, count] of [...counts].sort(([a], [b]) => a.localeCompare(b))) say(`${count}\t${name}\n`);
  say(`${answers} answers\n`);
  return tell(found, say);
}

async function tellStories(
  seed: number,
  run: { path: string | undefined; numRuns: number },
  say: (text: string) => void,
) {
  const { found, counts } = await searchStories(seed, run);
  say(`${JSON.stringify(counts)}\n`);
  if (found) say(`${found}\n`);
  return found ? 1 : 0;
}

function tell(found: Found | undefined, say: (text: string) => void): number {
  say(found ? `${found.why}\n${JSON.stringify(found.exchange)}\n${replay(found)}\n` : 'no answer breaks the rule\n');
  return found ? 1 : 0;
}

function sum(counts: Counts): number {
  return [...counts.values()].reduce((all, count) => all + count, 0);
}
