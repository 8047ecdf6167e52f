import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import '../../../src/transfer/checksums/verify/hash-thread.ts';
import { anyPlan } from './any-plan.ts';
import { takeClock } from './globals.ts';
import { look } from './look.ts';
import type { Plan } from './plan.ts';
import { play } from './schedule.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '300' },
    seed: { type: 'string' },
    replay: { type: 'string' },
    plan: { type: 'string' },
    below: { type: 'string', default: '/tmp' },
    'no-shrink': { type: 'boolean' },
    'go-on': { type: 'boolean' },
    brief: { type: 'boolean' },
  },
});
const below = values.below;
const say = (line: string) => void process.stdout.write(`${line}\n`);
takeClock();
if (values.plan !== undefined) process.exitCode = await told(JSON.parse(readFileSync(values.plan, 'utf8')));
else process.exitCode = await (values.replay === undefined ? search() : replay(Number(values.replay)));

/** Plays so many schedules, each of a seed of its own; the first that fails is made as small as can be. */
async function search(): Promise<number> {
  const began = performance.now();
  const [count, first] = [Number(values.count), Number(values.seed ?? Date.now() % 2 ** 31)];
  let [steps, failed] = [0, 0];
  for (let seed = first; seed < first + count; seed += 1) {
    try {
      steps += (await play(planOf(seed), below, look)).scheduler.steps;
    } catch (error) {
      if (values['go-on']) {
        say(`seed ${seed}: ${firstLine(error)}`);
        failed += 1;
        continue;
      }
      if (values.brief) {
        say(`found by schedule ${seed - first + 1}: ${firstLine(error)}`);
        return 1;
      }
      say(`seed ${seed}: ${(error as Error).stack}`);
      if (!values['no-shrink']) await shrink(seed);
      say(`to see its steps: node scripts/schedules.js --replay ${seed}`);
      return 1;
    }
  }
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage();
  const busy = `${((user + system) / 1e6).toFixed(1)} s of a processor`;
  say(`${count} schedules from seed ${first}, ${steps} steps, in ${seconds.toFixed(1)} s, ${busy}`);
  if (failed > 0) say(`${failed} failed`);
  return failed > 0 ? 1 : 0;
}

function firstLine(error: unknown): string {
  return (error as Error).message.split('\n', 1)[0] ?? '';
}

async function shrink(seed: number): Promise<void> {
  const fails = fc.asyncProperty(anyPlan, async (plan) => void (await play(plan, below, look)));
  const { counterexample, errorInstance } = await fc.check(fails, {
    seed,
    numRuns: 1,
    interruptAfterTimeLimit: 60_000,
  });
  if (counterexample) say(`the smallest found: ${JSON.stringify(counterexample[0], null, 1)}\n${errorInstance}`);
}

async function replay(seed: number): Promise<number> {
  const plan = planOf(seed);
  say(JSON.stringify(plan, null, 1));
  return told(plan);
}

/** Plays one, and says each step. */
async function told(plan: Plan): Promise<number> {
  try {
    await play(plan, below, look, say);
    return 0;
  } catch (error) {
    say(`${(error as Error).stack}`);
    return 1;
  }
}

function planOf(seed: number): Plan {
  const [plan] = fc.sample(anyPlan, { seed, numRuns: 1 });
  if (!plan) throw new Error(`no plan of seed ${seed}`);
  return plan;
}
