import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { NODE, run, workplace } from '../../cli/program.ts';
import { dice } from './crash-state.ts';
import { faultsOf, isSound } from './invariants.ts';
import { environment, rebooted, rebuild, type Scenario, treeAt } from './scenario.ts';
import { BATCH_ALONE, KILLED, SCENARIOS } from './scenarios.ts';
import { expectationOf, type Stage, type State, search } from './search.ts';
import { namesOf, startFilings } from './service.ts';
import { MUTANTS, OFTEN, variant } from './variant.ts';

// Maximum number of runs in which the fault of a mutant must be found. scripts/power-cut.js sets the following
// variables for a long run.
const MAX_RUNS = 3;
const SEED = Number(process.env.FILINGS_SEED ?? 1);
const REACH = {
  each: Number(process.env.FILINGS_POWER_CUT_EACH ?? 2),
  rerunStates: Number(process.env.FILINGS_POWER_CUT_AGAIN ?? 1),
};
/** Scenarios for mutants that a single batch does not reveal. */
const SHOWN_BY: Readonly<Record<string, Scenario>> = {
  'what a killed run left is not flushed': KILLED,
};
const PATIENCE = 3_600_000;

let folder = '';
beforeAll(async () => {
  folder = await variant([OFTEN]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function stageFor(program: string): Promise<Stage> {
  const service = await startFilings();
  return { place: await workplace(), bin: join(program, 'bin/filings.js'), service };
}

/** Runs the same command again, as after a reboot. Returns the faults. */
async function rerun(state: State, scenario: Scenario, { place, bin, service }: Stage): Promise<string[]> {
  await rebuild(place.path, state.tree);
  const options = { cwd: place.path, env: environment(place, service.env) };
  const go = ([file = '', ...args]: string[]) => run(file, args, options);
  const faults: string[] = [];
  const last = scenario.acts.at(-1)?.args ?? [];
  for (const args of [last, ...(scenario.sweeps ? [scenario.sweeps] : [])]) {
    const ended = await go([...(await rebooted(place)), NODE, bin, ...args]);
    if (ended.exitCode !== 0) faults.push(`the rerun ended with ${ended.exitCode}: ${ended.stderr}`);
  }
  if (last.includes('--checksums')) {
    const { exitCode, stdout, stderr } = await go([NODE, bin, 'verify', 'out']);
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
  it.each(SCENARIOS)(
    'no file is torn or falsely reported, and the next run completes the files: $name',
    async (scenario) => {
      const stage = await stageFor(folder);
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

  it.each(Object.entries(MUTANTS))(
    'the search finds a fault in a build with this defect: %s',
    async (what, edit) => {
      const mutant = await variant([OFTEN, edit]);
      onTestFinished(() => rm(mutant, { recursive: true, force: true }));
      const scenario = SHOWN_BY[what] ?? BATCH_ALONE;
      const stage = await stageFor(mutant);
      const faults: string[] = [];
      // On a loaded machine a body may arrive at once, so that the run has no moment with the fault.
      for (let run = 0; run < MAX_RUNS && faults.length === 0; run += 1) {
        const { states, faults: found } = await search(scenario, stage, dice(SEED), REACH);
        process.stdout.write(`${what}: ${found.length} faults in ${states} states, such as ${found[0]}\n`);
        faults.push(...found);
      }
      expect(faults).not.toEqual([]);
    },
    PATIENCE,
  );
});
