import { createHash } from 'node:crypto';
import { readdir, readFile, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Workplace, workplace } from '../../cli/program.ts';
import { ALL, crashTree, type Dice, dice, FATES, type Fate, randomFates, type Tree } from './crash-state.ts';
import { type Expectation, faultsOf, isSound } from './invariants.ts';
import { Replay, TRACED } from './replay.ts';
import { type Act, SCENARIOS, type Scenario } from './scenarios.ts';
import { NUMBERS, namesOf, startFilings } from './service.ts';
import { readCalls } from './strace-log.ts';

// scripts/power-cut.js sets the following variables for a long run.
const SEED = Number(process.env.FILINGS_SEED ?? 1);
/** Number of random fates of each kind that are tried at each moment. */
const EACH = Number(process.env.FILINGS_POWER_CUT_EACH ?? 2);
/** Number of states on which the program runs again. */
const RERUNS = 2 * Number(process.env.FILINGS_POWER_CUT_AGAIN ?? 1);
const PATIENCE = 3_600_000;

interface Stage {
  readonly place: Workplace;
  readonly service: Awaited<ReturnType<typeof startFilings>>;
  readonly expectation: Expectation;
}

describe('after a power cut between any two system calls', () => {
  test.for(SCENARIOS)(
    'no file is torn or falsely reported, and the next run completes the files: $name',
    { timeout: PATIENCE },
    async (scenario) => {
      const { name, acts, old = new Map(), resumes = false } = scenario;
      const [place, service] = [await workplace(), await startFilings()];
      const versions = [...new Set(acts.map(({ mood }) => mood?.version ?? 1))];
      const stage = { place, service, expectation: { versions, old } };
      const { states, faults, some } = await search(scenario, stage, dice(SEED));
      expect(states).toBeGreaterThan(1);
      expect(faults.slice(0, 10)).toEqual([]);
      const before = service.resumed();
      expect(before > 0).toBe(resumes);
      for (const { tree, how } of some) expect([how, ...(await rerun(tree, scenario, stage))]).toEqual([how]);
      // A kept part was flushed before it got its name, so it may be resumed after a power cut.
      const resumed = service.resumed() - before;
      process.stdout.write(`${name}: ${states} states, ${some.length} run again, ${resumed} resumed\n`);
    },
  );
});

/** Runs a scenario. Checks each possible state after a power cut at each of its moments once, and returns some of them. */
async function search({ acts, old = new Map() }: Scenario, { place, service, expectation }: Stage, roll: Dice) {
  const before = new Map([...old, ['in', Buffer.from(NUMBERS.join('\n'))]]);
  await rebuild(place, before);
  const replay = new Replay(await realpath(place.path), before);
  const digests = new Set<string>();
  const faults: string[] = [];
  const some: { tree: Tree; how: string }[] = [];
  const check = (fate: Fate, how: string) => {
    const tree = crashTree(replay.root, fate);
    const digest = [...hashesOf(tree), replay.stdout].join();
    if (digests.has(digest)) return;
    digests.add(digest);
    faults.push(...faultsOf(tree, replay.stdout, expectation).map((fault) => `${how}: ${fault}`));
    // Each of the states is among the kept ones with the same probability.
    const at = some.length < RERUNS ? some.length : roll(digests.size);
    if (at < RERUNS) some[at] = { tree, how };
  };
  for (const [at, act] of acts.entries()) {
    const calls = await trace(act, place, service);
    replay.run(calls, ({ name, end }) => {
      const moment = `run ${at + 1}, line ${end} (${name})`;
      for (const [how, fate] of Object.entries(FATES)) check(fate, `${moment}: ${how}`);
      for (const [how, fate] of Object.entries(randomFates(roll))) {
        for (let n = 0; n < EACH; n += 1) check(fate, `${moment}: ${how}, ${n}`);
      }
    });
  }
  // Otherwise the states of the model would be those of another disk.
  expect(hashesOf(linesSorted(crashTree(replay.root, ALL)))).toEqual(hashesOf(linesSorted(await treeAt(place.path))));
  return { states: digests.size, faults, some };
}

/** Runs the program under strace, or two programs under one strace. Returns their calls. */
async function trace({ args, mood, isTwice }: Act, place: Workplace, service: Stage['service']) {
  Object.assign(service.mood, { version: 1, cuts: false, ...mood });
  const line = `$FILINGS ${args.join(' ')}`;
  const program = isTwice ? `bash -c '"$@" & "$@" && wait $!' both ${line}` : line;
  const log = join(place.home, 'strace.log');
  const script = `strace -f -y -xx -s 33554432 -o "${log}" -e trace=${TRACED} ${program}`;
  const { exitCode, stderr } = await place.shell(script, service.env);
  if (!mood?.cuts) expect(exitCode, stderr).toBe(0);
  return readCalls(await readFile(log, 'latin1'));
}

/** Runs the last command again, as after a reboot. Returns the faults. */
async function rerun(
  state: Tree,
  { acts, files }: Scenario,
  { place, service, expectation }: Stage,
): Promise<string[]> {
  await rebuild(place, state);
  const faults: string[] = [];
  const last = acts.at(-1)?.args ?? [];
  const ended = await place.filings(last, service.env);
  if (ended.exitCode !== 0) faults.push(`the rerun ended with ${ended.exitCode}: ${ended.stderr}`);
  if (last.includes('--checksums')) {
    const { exitCode, stdout, stderr } = await place.filings(['verify', 'out'], service.env);
    if (!isSound(exitCode, stdout.toString())) faults.push(`verify: ${exitCode} ${stdout}${stderr}`);
  }
  const tree = await treeAt(place.path);
  faults.push(...faultsOf(tree, '', expectation));
  const all = NUMBERS.flatMap((number) => namesOf(number).map((name) => `out/${number}/${name}`));
  const wanted = [...(files ?? all)].sort();
  const found = [...tree.keys()].filter((path) => /^out\/.*(?<!\/SHA256SUMS|\.filings-part)$/.test(path)).sort();
  if (found.join() !== wanted.join()) faults.push(`the rerun left ${found.join(' ')}`);
  return faults;
}

/** The regular files below a path. */
async function treeAt(path: string): Promise<Tree> {
  const found = await readdir(path, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = files.map(async (file) => [file.slice(path.length + 1), await readFile(file)] as const);
  return new Map(await Promise.all(read));
}

/** Replaces the content of a place by a tree. */
async function rebuild({ names, at, write }: Workplace, tree: Tree): Promise<void> {
  for (const name of await names()) await rm(at(name), { recursive: true });
  for (const [name, content] of tree) await write(name, content);
}

const hashes = new WeakMap<Buffer, string>();

/** Each path with a hash of its content. */
function hashesOf(tree: Tree): string[] {
  const hashOf = (content: Buffer) => {
    const hash = hashes.get(content) ?? createHash('sha1').update(content).digest('hex');
    hashes.set(content, hash);
    return hash;
  };
  return [...tree].map(([name, content]) => `${name} ${hashOf(content)}`).sort();
}

/** Sorts the lines of each file, because the kernel decides the order of two concurrent appends. */
function linesSorted(tree: Tree): Tree {
  const sorted = (content: Buffer) => Buffer.from(content.toString('latin1').split('\n').sort().join('\n'), 'latin1');
  return new Map([...tree].map(([name, content]) => [name, sorted(content)]));
}
