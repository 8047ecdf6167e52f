import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { NODE, run, workplace } from '../../cli/program.ts';
import { strace } from '../../cli/traced.ts';
import { container, obstacle } from '../container.ts';
import { dice } from './crash-state.ts';
import { faultsOf } from './invariants.ts';
import { environment, rebooted, rebuild, type Scenario, treeAt } from './scenario.ts';
import { BATCH_ALONE, KILLED, SCENARIOS } from './scenarios.ts';
import { expectationOf, type Stage, type State, search } from './search.ts';
import { startFilings } from './service.ts';
import { MUTANTS, OFTEN, variant } from './variant.ts';

// scripts/power-cut.js sets these for a long run.
const SEED = Number(process.env.FILINGS_SEED ?? 1);
const REACH = {
  each: Number(process.env.FILINGS_POWER_CUT_EACH ?? 2),
  again: Number(process.env.FILINGS_POWER_CUT_AGAIN ?? 1),
};
const PATIENCE = 3_600_000;

let folder = '';
beforeAll(async () => {
  folder = await variant([OFTEN]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function stageFor(program: string): Promise<Stage> {
  const service = await startFilings(3, 2, 1);
  return { place: await workplace(), bin: join(program, 'bin/filings.js'), service };
}

/** The same command again, as after a reboot: what is wrong then. */
async function rerun(state: State, scenario: Scenario, { place, bin, service }: Stage): Promise<string[]> {
  await rebuild(place.path, state.tree);
  const options = { cwd: place.path, env: environment(place, service.env) };
  const go = ([file = '', ...args]: string[]) => run(file, args, options);
  const faults: string[] = [];
  const ended = await go([...(await rebooted(place)), NODE, bin, ...(scenario.acts.at(-1)?.args ?? [])]);
  if (ended.exitCode !== 0) faults.push(`the rerun ended with ${ended.exitCode}: ${ended.stderr}`);
  const verified = await go([NODE, bin, 'verify', 'out']);
  if (verified.exitCode !== 0) faults.push(`verify: ${verified.exitCode} ${verified.stdout}${verified.stderr}`);
  const tree = await treeAt(place.path);
  const expectation = expectationOf(scenario, { place, bin, service });
  faults.push(...faultsOf(tree, '', expectation));
  for (const number of service.numbers) {
    // Checksums of a filing that is in the done list may be lost: they are not flushed.
    const want = service.namesOf(number).map((name) => `out/${number}/${name}`);
    const got = [...tree.keys()].filter((path) => path.startsWith(`out/${number}/`) && !path.endsWith('/SHA256SUMS'));
    if (got.sort().join() !== want.sort().join()) faults.push(`the rerun left ${got.join(' ')}`);
  }
  return faults;
}

const cannotReboot = strace && (await obstacle(container([], 'true')));

describe.skipIf(!strace)('the power goes between any two system calls', () => {
  it.each(SCENARIOS)(
    '$name: nothing is torn, nothing claimed that is not there, and the same command completes it',
    async (scenario) => {
      const stage = await stageFor(folder);
      const { states, faults, again } = await search(scenario, stage, dice(SEED), REACH);
      expect(faults.slice(0, 10)).toEqual([]);
      const before = stage.service.resumed();
      const reruns = cannotReboot ? [] : again;
      for (const state of reruns) expect([state.how, ...(await rerun(state, scenario, stage))]).toEqual([state.how]);
      const resumed = stage.service.resumed() - before;
      // Or nothing would be known of parts.
      if (scenario.resumes && reruns.length > 0) expect(resumed).toBeGreaterThan(0);
      process.stdout.write(`${scenario.name}: ${states} states, ${reruns.length} run again, ${resumed} resumed\n`);
    },
    PATIENCE,
  );

  it.each(Object.entries(MUTANTS))(
    'a build in which %s is found',
    async (what, edit) => {
      const mutant = await variant([OFTEN, edit]);
      onTestFinished(() => rm(mutant, { recursive: true, force: true }));
      const scenario = what.includes('killed run') ? KILLED : BATCH_ALONE;
      const { states, faults } = await search(scenario, await stageFor(mutant), dice(SEED), REACH);
      process.stdout.write(`${what}: ${faults.length} faults in ${states} states, such as ${faults[0]}\n`);
      expect(faults).not.toEqual([]);
    },
    PATIENCE,
  );
});
