import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { NODE, run, started, until, type Workplace, workplace } from '../../cli/program.ts';
import { obstacle } from '../container.ts';
import { type Dice, dice } from './crash-state.ts';
import { DiskImage } from './disk-image.ts';
import { type Expectation, faultsOf, isSound } from './invariants.ts';
import { age, environment, rebooted, treeAt } from './scenario.ts';
import { startFilings } from './service.ts';
import { MUTANTS, OFTEN, variant } from './variant.ts';

const SEED = Number(process.env.FILINGS_SEED ?? 1);
/** Runs that the power is cut in, and how often in each. */
const ROUNDS = Number(process.env.FILINGS_POWER_CUT_ROUNDS ?? 2);
const CUTS = 3;
/** The longest time between two cuts. Milliseconds. */
const MOST_MS = 500;
/** Requests before the first cut. */
const UNDER_WAY = 15;

const COMMAND = 'download -i in --all -d out --done done --checksums --report report -q'.split(' ');

const LEDGERS = ['done', 'report'];
/** What a file system with one journal can show; scripts/power-cut.js tries the others, too. */
const SEEN = [
  'no flush before the rename',
  'the done line before the files',
  'checksums are not flushed before the done line',
];
// A killed run is not part of what is played here.
const tried = process.env.FILINGS_POWER_CUT_MUTANTS === 'all' ? Object.keys(MUTANTS) : SEEN.slice(0, 1);

const disk = await DiskImage.make().catch((error: Error) => error);
const why = disk instanceof Error ? disk.message.trim() : await obstacle(['unshare', '--mount']);
if (why !== undefined) process.stdout.write(`power cuts on images: skipped, since ${why}\n`);

interface Stage {
  readonly disk: DiskImage;
  readonly place: Workplace;
  readonly bin: string;
  readonly service: Awaited<ReturnType<typeof startFilings>>;
}

let folder = '';
beforeAll(async () => {
  folder = await variant([OFTEN]);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  if (!(disk instanceof Error)) await disk.remove();
});

async function stageFor(program: string): Promise<Stage> {
  const service = await startFilings(30, 8, 3);
  service.mood.pieceMs = 20;
  return { disk: disk as DiskImage, place: await workplace(), bin: join(program, 'bin/filings.js'), service };
}

/** Runs the batch on an empty disk, and cuts the power some times. Gives what was on the disk then. */
async function cutRound({ disk, place, bin, service }: Stage, round: number, roll: Dice): Promise<string[]> {
  disk.fresh(round % 2 === 0);
  const cwd = join(disk.path, 'work');
  await mkdir(cwd);
  await writeFile(join(cwd, 'in'), service.numbers.map((number) => `${number}\n`).join(''));
  const options = { cwd, env: environment(place, service.env) };
  // Parts of an earlier run, written back long ago: the next one goes on with them.
  service.mood.cuts = true;
  await run(
    NODE,
    [bin, ...COMMAND.map((word) => (word === '--all' ? '--include=large*' : word)), '--retries=0'],
    options,
  );
  Object.assign(service.mood, { cuts: false, holds: true });
  await run('sync', ['--file-system', cwd], options);
  const before = service.asked();
  const running = started([NODE, bin, ...COMMAND], options);
  const copies: string[] = [];
  // Some files have been saved by then, whatever else the machine does; large ones are under way to the end.
  await until(() => service.asked() > before + UNDER_WAY);
  for (let cut = 0; cut < CUTS; cut += 1) {
    await sleep(roll(MOST_MS));
    // The system may write back any file at any time, the one that was written to last first.
    if (roll(2) === 0) await run('sync', LEDGERS, options);
    copies.push(disk.cut(`${round}-${cut}`));
  }
  running.kill('SIGKILL');
  await running.ended;
  service.mood.holds = false;
  disk.unmount();
  return copies;
}

function expectationOf({ service }: Stage): Expectation {
  const { env, numbers, namesOf } = service;
  return { baseUrl: new URL(env.FILINGS_BASE_URL ?? '').href, numbers, namesOf, versions: [1], old: new Map() };
}

/** What is wrong with a disk as it comes back; `then` looks at it while it is mounted. */
async function onDisk<T>({ disk }: Stage, copy: string, then: (cwd: string) => Promise<T>): Promise<T> {
  disk.back(copy);
  try {
    return await then(join(disk.path, 'work'));
  } finally {
    disk.unmount();
    await rm(copy);
  }
}

/** The same command again, as after a reboot: what is wrong then. */
async function rerun(stage: Stage, cwd: string): Promise<string[]> {
  const { place, bin, service } = stage;
  await age(cwd);
  const options = { cwd, env: environment(place, service.env) };
  const go = ([file = '', ...args]: string[]) => run(file, args, options);
  const ended = await go([...(await rebooted(place)), NODE, bin, ...COMMAND]);
  const verified = await go([NODE, bin, 'verify', 'out']);
  const tree = await treeAt(cwd);
  const missing = service.numbers.flatMap((number) =>
    service.namesOf(number).filter((name) => !tree.has(`out/${number}/${name}`)),
  );
  const litter = [...tree.keys()].filter((path) => /\.(part|resume|lock)$/.test(path));
  return [
    ...(ended.exitCode === 0 ? [] : [`the rerun ended with ${ended.exitCode}: ${ended.stderr}`]),
    ...(isSound(verified.exitCode, verified.stdout.toString())
      ? []
      : [`verify: ${verified.exitCode}: ${verified.stdout}`]),
    ...missing.map((name) => `the rerun left out ${name}`),
    ...litter.map((path) => `the rerun left ${path}`),
    ...faultsOf(tree, '', expectationOf(stage)),
  ];
}

describe.skipIf(why !== undefined)('the power goes while ext4 writes', () => {
  it('nothing is torn, nothing claimed that is not there, and the same command completes it', async () => {
    const stage = await stageFor(folder);
    const roll = dice(SEED);
    let whole = 0;
    let resumed = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const copy of await cutRound(stage, round, roll)) {
        const faults = await onDisk(stage, copy, async (cwd) => {
          const tree = await treeAt(cwd);
          whole += [...tree.keys()].filter((path) => /^out\/[^/]+\/[fl]/.test(path)).length;
          const before = faultsOf(tree, '', expectationOf(stage));
          if (before.length > 0) return before;
          const earlier = stage.service.resumed();
          const after = await rerun(stage, cwd);
          resumed += stage.service.resumed() - earlier;
          return after;
        });
        expect(faults.slice(0, 10)).toEqual([]);
      }
    }
    // Or the power went before there was anything to lose; a part may have zeros where it was not flushed.
    expect(whole).toBeGreaterThan(0);
    expect(resumed).toBe(0);
    process.stdout.write(`${ROUNDS * CUTS} images: ${whole} files under their final names, ${resumed} parts resumed\n`);
  }, 7_200_000);

  it.each(tried)(
    'a build in which %s is found where it can be',
    async (what) => {
      const mutant = await variant([OFTEN, MUTANTS[what] ?? OFTEN]);
      onTestFinished(() => rm(mutant, { recursive: true, force: true }));
      const stage = await stageFor(mutant);
      const roll = dice(SEED);
      const faults: string[] = [];
      for (let round = 0; round < 2; round += 1) {
        for (const copy of await cutRound(stage, round, roll))
          faults.push(
            ...(await onDisk(stage, copy, async (cwd) => faultsOf(await treeAt(cwd), '', expectationOf(stage)))),
          );
      }
      process.stdout.write(
        `${what}: ${faults.length} faults in ${2 * CUTS} images, such as ${faults[0]}, ${faults.at(-1)}\n`,
      );
      expect(faults.length > 0).toBe(SEEN.includes(what));
    },
    600_000,
  );
});
