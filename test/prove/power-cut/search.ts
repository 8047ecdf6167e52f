import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { Workplace } from '../../cli/program.ts';
import { oneThread } from '../traced.ts';
import {
  ALL,
  CONTENTS,
  crashTree,
  type Dice,
  type Fate,
  inAnyOrder,
  inOrder,
  NAMES,
  NOTHING,
  type Tree,
} from './crash-state.ts';
import { type Expectation, faultsOf } from './invariants.ts';
import { possibleEnds, Replay } from './replay.ts';
import { type Act, rebuild, type Scenario, trace, treeAt } from './scenario.ts';
import type { startFilings } from './service.ts';
import type { Call } from './strace-log.ts';

/** How often a run is begun anew until its kill comes at the right moment: most come so at once. */
const MOST_TRIES = 20;

/** What a scenario is played with. */
export interface Stage {
  readonly place: Workplace;
  readonly bin: string;
  readonly service: Awaited<ReturnType<typeof startFilings>>;
}

/** A state that the power could leave, and how it came about. */
export interface State {
  readonly tree: Tree;
  readonly how: string;
}

/** How far to search. */
export interface Reach {
  /** Fates of each kind that are tried at each moment. */
  readonly each: number;
  /** How many states are chosen to run the program on, and as many that have a part. */
  readonly again: number;
}

/** Plays a scenario, and looks at what the power could leave at each of its moments, at each state once. */
export async function search(scenario: Scenario, stage: Stage, roll: Dice, reach: Reach) {
  const { place, service } = stage;
  const old = new Map([...(scenario.old ?? []), ['in', Buffer.from(service.numbers.join('\n'))]]);
  await rebuild(place.path, old);
  const replay = new Replay(place.path, old);
  const runs: (readonly Call[])[] = [];
  const expectation = expectationOf(scenario);
  const digests = new Set<string>();
  const faults: string[] = [];
  const [some, withPart] = [sample(reach.again, roll), sample(reach.again, roll)];
  const look = (fate: Fate, how: string) => {
    const tree = crashTree(replay.root, fate);
    const digest =
      [...tree]
        .map(([name, content]) => `${name} ${hashOf(content)}`)
        .sort()
        .join() + replay.told;
    if (digests.has(digest)) return;
    digests.add(digest);
    faults.push(...faultsOf(tree, replay.told, expectation).map((fault) => `${how}: ${fault}`));
    const hasPart = [...tree].some(([path, content]) => path.endsWith('.part') && content.length > 0);
    (hasPart ? withPart : some).add({ tree, how });
  };
  Object.assign(service.mood, { version: 1, cuts: false });
  for (const [at, act] of scenario.acts.entries()) {
    Object.assign(service.mood, act.mood);
    // A kill goes by the number of a call.
    const env = { ...service.env, ...(act.killed && (await oneThread(place))) };
    const calls = await traceOf(act, stage, env, old);
    runs.push(calls);
    replay.run(calls, ({ name, end }) => {
      const moment = `run ${at + 1}, line ${end} (${name})`;
      look(ALL, `${moment}: all`);
      look(NOTHING, `${moment}: nothing unflushed`);
      look(CONTENTS, `${moment}: no unflushed names`);
      look(NAMES, `${moment}: no unflushed contents`);
      for (let n = 0; n < reach.each; n += 1) look(inOrder(roll), `${moment}: in order, ${n}`);
      for (let n = 0; n < reach.each; n += 1) look(inAnyOrder(roll), `${moment}: in any order, ${n}`);
    });
  }
  requireSame(possibleEnds(place.path, old, runs), await treeAt(place.path));
  return { states: digests.size, faults, again: [...some.kept, ...withPart.kept] };
}

/** A run is killed at the moment that its scenario is about, or it is begun anew; what is killed comes first in its scenario. */
async function traceOf(act: Act, { place, bin }: Stage, env: Record<string, string>, old: Tree): Promise<Call[]> {
  for (let left = MOST_TRIES; left > 0; left -= 1) {
    const calls = await trace(place, bin, env, act);
    if (calls) return calls;
    await rebuild(place.path, old);
  }
  throw new Error(`${act.args.join(' ')}: killed ${MOST_TRIES} times, and never behind ${act.killed?.named.join(' ')}`);
}

/** Or all that was made of the model's states would be about another disk. */
function requireSame(modelled: Iterable<Tree>, real: Tree): void {
  const ends: string[][] = [];
  for (const tree of modelled) {
    ends.push(linesAndHashes(tree));
    if (isDeepStrictEqual(ends.at(-1), linesAndHashes(real))) return;
  }
  expect(ends[0]).toEqual(linesAndHashes(real));
}

export function expectationOf({ acts, old = new Map() }: Scenario): Expectation {
  return { versions: acts.some(({ mood }) => mood?.version === 2) ? [1, 2] : [1], old };
}

/** Some of many, each as likely as any other. */
function sample(size: number, roll: Dice) {
  const kept: State[] = [];
  let seen = 0;
  const add = (state: State) => {
    seen += 1;
    const place = kept.length < size ? kept.length : roll(seen);
    if (place < size) kept[place] = state;
  };
  return { kept, add };
}

const hashes = new WeakMap<Buffer, string>();

function hashOf(content: Buffer): string {
  const hash = hashes.get(content) ?? createHash('sha1').update(content).digest('hex');
  hashes.set(content, hash);
  return hash;
}

/** Which of two appends at the same moment came first is the kernel's secret. */
function linesAndHashes(tree: Tree): string[] {
  const sorted = (content: Buffer) => Buffer.from(content.toString('latin1').split('\n').sort().join('\n'), 'latin1');
  return [...tree].map(([name, content]) => `${name} ${hashOf(sorted(content))}`).sort();
}
