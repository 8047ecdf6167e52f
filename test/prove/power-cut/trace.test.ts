import { describe, expect, test } from 'vitest';
import { BIN, NODE, run, workplace } from '../../cli/program.ts';
import { dice } from './crash-state.ts';
import { faultsOf, isSound } from './invariants.ts';
import { environment, rebuild, type Scenario, treeAt } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';
import { expectationOf, type Stage, type State, search } from './search.ts';
import { namesOf, startFilings } from './service.ts';

// scripts/power-cut.js sets the following variables for a long run.
const SEED = Number(process.env.FILINGS_SEED ?? 1);
const REACH = {
  each: Number(process.env.FILINGS_POWER_CUT_EACH ?? 2),
  rerunStates: Number(process.env.FILINGS_POWER_CUT_AGAIN ?? 1),
};
const PATIENCE = 3_600_000;

/** Runs the same command again, as after a reboot. Returns the faults. */
async function rerun(state: State, scenario: Scenario, { place, service }: Stage): Promise<string[]> {
  await rebuild(place.path, state.tree);
  const options = { cwd: place.path, env: environment(place, service.env) };
  const go = ([file = '', ...args]: string[]) => run(file, args, options);
  const faults: string[] = [];
  const last = scenario.acts.at(-1)?.args ?? [];
  const ended = await go([NODE, BIN, ...last]);
  if (ended.exitCode !== 0) faults.push(`the rerun ended with ${ended.exitCode}: ${ended.stderr}`);
  if (last.includes('--checksums')) {
    const { exitCode, stdout, stderr } = await go([NODE, BIN, 'verify', 'out']);
    if (!isSound(exitCode, stdout.toString())) faults.push(`verify: ${exitCode} ${stdout}${stderr}`);
  }
  const tree = await treeAt(place.path);
  faults.push(...faultsOf(tree, '', expectationOf(scenario)));
  const all = service.numbers.flatMap((number) => namesOf(number).map((name) => `out/${number}/${name}`));
  const want = [...(scenario.files ?? all)].sort();
  const got = [...tree.keys()]
    .filter((path) => path.startsWith('out/') && !path.endsWith('/SHA256SUMS') && !path.endsWith('.filings-part'))
    .sort();
  if (got.join() !== want.join()) faults.push(`the rerun left ${got.join(' ')}`);
  return faults;
}

describe('after a power cut between any two system calls', () => {
  test.each(SCENARIOS)(
    'no file is torn or falsely reported, and the next run completes the files: $name',
    async (scenario) => {
      const stage = { place: await workplace(), service: await startFilings() };
      const { states, faults, rerunStates } = await search(scenario, stage, dice(SEED), REACH);
      expect(states).toBeGreaterThan(1);
      expect(faults.slice(0, 10)).toEqual([]);
      const before = stage.service.resumed();
      if (scenario.resumes) expect(before).toBeGreaterThan(0);
      for (const state of rerunStates)
        expect([state.how, ...(await rerun(state, scenario, stage))]).toEqual([state.how]);
      // A kept part was flushed before it got its name, so it may be resumed after a power cut.
      const resumed = stage.service.resumed() - before;
      process.stdout.write(`${scenario.name}: ${states} states, ${rerunStates.length} run again, ${resumed} resumed\n`);
    },
    PATIENCE,
  );
});
