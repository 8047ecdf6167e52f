import { parseArgs } from 'node:util';
import { search, shrunk } from './search.ts';
import { searchStories } from './stories.ts';

/** The command of scripts/hostile-answers.js. Returns the exit status. */
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
  const [seed, answers, { path }] = [Number(values.seed), Number(values.answers), values];
  const found = await (values.stories ? stories() : path === undefined ? exchanges() : shrunk(seed, path));
  say(`${found ?? 'no answer breaks the rule'}\n`);
  return found ? 1 : 0;

  async function stories() {
    const { found, counts } = await searchStories(
      seed,
      path === undefined ? { numRuns: answers } : { numRuns: 1, path },
    );
    say(`${JSON.stringify(counts)}\n`);
    return found;
  }

  async function exchanges() {
    const started = performance.now();
    const { counts, found } = await search(seed, answers, (soFar) => {
      const sum = [...soFar.values()].reduce((all, count) => all + count, 0);
      say(`seed ${seed}: ${sum} answers in ${((performance.now() - started) / 1000).toFixed(0)} s\n`);
    });
    for (const [name, count] of [...counts].sort(([a], [b]) => a.localeCompare(b))) say(`${count}\t${name}\n`);
    return found;
  }
}
