import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import type { Workplace } from '../../cli/program.ts';
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
import { Replay } from './replay.ts';
import { rebuild, type Scenario, trace, treeAt } from './scenario.ts';
import type { startFilings } from './service.ts';

/** The environment of a scenario. */
export interface Stage {
  readonly place: Workplace;
  readonly service: Awaited<ReturnType<typeof startFilings>>;
}

/** A possible state after a power cut, and its origin. */
export interface State {
  readonly tree: Tree;
  readonly how: string;
}

/** Limits of a search. */
export interface BatchProgress {
  /** Number of random fates of each kind that are tried at each moment. */
  readonly each: number;
  /** Number of states on which the program runs rerunStates, and as many more with a part. */
  readonly rerunStates: number;
}

/** Runs a scenario. Checks each possible state after a power cut at each of its moments once. */
export async function search(scenario: Scenario, stage: Stage, roll: Dice, reach: BatchProgress) {
  const { place, service } = stage;
  const old = new Map([...(scenario.old ?? []), ['in', Buffer.from(service.numbers.join('\n'))]]);
  await rebuild(place.path, old);
  const replay = new Replay(place.path, old);
  const expectation = expectationOf(scenario);
  const digests = new Set<string>();
  const faults: string[] = [];
  const some = sample(2 * reach.rerunStates, roll);
  const check = (fate: Fate, how: string) => {
    const tree = crashTree(replay.root, fate);
    const digest =
      [...tree]
        .map(([name, content]) => `${name} ${hashOf(content)}`)
        .sort()
        .join() + replay.stdout;
    if (digests.has(digest)) return;
    digests.add(digest);
    faults.push(...faultsOf(tree, replay.stdout, expectation).map((fault) => `${how}: ${fault}`));
    some.add({ tree, how });
  };
  Object.assign(service.mood, { version: 1, cuts: false });
  for (const [at, act] of scenario.acts.entries()) {
    Object.assign(service.mood, act.mood);
    const calls = await trace(place, service.env, act);
    replay.run(calls, ({ name, end }) => {
      const moment = `run ${at + 1}, line ${end} (${name})`;
      check(ALL, `${moment}: all`);
      check(NOTHING, `${moment}: nothing unflushed`);
      check(CONTENTS, `${moment}: no unflushed names`);
      check(NAMES, `${moment}: no unflushed contents`);
      for (let n = 0; n < reach.each; n += 1) check(inOrder(roll), `${moment}: in order, ${n}`);
      for (let n = 0; n < reach.each; n += 1) check(inAnyOrder(roll), `${moment}: in any order, ${n}`);
    });
  }
  // Otherwise the states of the model would be those of another disk.
  expect(linesAndHashes(crashTree(replay.root, ALL))).toEqual(linesAndHashes(await treeAt(place.path)));
  return { states: digests.size, faults, rerunStates: some.kept };
}

export function expectationOf({ acts, old = new Map() }: Scenario): Expectation {
  return { versions: acts.some(({ mood }) => mood?.version === 2) ? [1, 2] : [1], old };
}

/** Keeps `size` of many states, each with the same probability. */
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

/** Lines are sorted, because the kernel decides the order of two concurrent appends. */
function linesAndHashes(tree: Tree): string[] {
  const sorted = (content: Buffer) => Buffer.from(content.toString('latin1').split('\n').sort().join('\n'), 'latin1');
  return [...tree].map(([name, content]) => `${name} ${hashOf(sorted(content))}`).sort();
}
