import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { archivePlace } from '../program/batch.ts';
import { jsonOf, linesOf } from '../program/run.ts';
import { accession } from '../servers/archive.ts';
import { BIN, NODE, proving, run, until } from './program.ts';

// All states between two steps of a file with --checksums: a run is killed before the step, the step fails, or another
// run does all its work in between. An entry may be ahead of its file, but never behind it. docs/guarantees.md has the
// same table.

/** At the step $STEP, does $FAULT: `kill`, `wait` (until the file $GO exists) or the code of an error. */
const FAULTY = `const fs = require('node:fs');
const paths = new Map();
let isNamed = false;
let isOver = false;
const step = (name) => {
  if (name !== process.env.STEP || isOver) return;
  isOver = true;
  const { FAULT, GO } = process.env;
  if (FAULT === 'kill') process.kill(process.pid, 'SIGKILL');
  if (FAULT !== 'wait') throw Object.assign(new Error(FAULT), { code: FAULT });
  fs.writeFileSync(GO + '.wanted', '');
  while (!fs.existsSync(GO)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
};
const stepOf = {
  fsync: (fd) => paths.get(fd)?.endsWith('part') ? 'flush' : paths.get(fd)?.endsWith('SUMS') && !isNamed && 'entryFlush',
  writeSync: (fd, bytes) => {
    if (paths.get(fd)?.endsWith('done')) return 'done';
    return paths.get(fd)?.endsWith('SUMS') && (bytes === '#' ? isNamed && 'comment' : 'entry');
  },
  linkSync: () => 'name',
  renameSync: (_, to) => to.endsWith('f.htm') && 'name',
};
fs.openSync = new Proxy(fs.openSync, { apply: (open, self, args) => {
  const fd = open(...args);
  paths.set(fd, String(args[0]));
  return fd;
} });
fs.open = new Proxy(fs.open, { apply: (open, self, [path, ...args]) => {
  const done = args.pop();
  open(path, ...args, (error, fd) => {
    paths.set(fd, String(path));
    done(error, fd);
  });
} });
for (const [name, which] of Object.entries(stepOf)) fs[name] = new Proxy(fs[name], { apply: (call, self, args) => {
  try {
    step(which(...args));
  } catch (error) {
    if (typeof args.at(-1) !== 'function') throw error;
    return setImmediate(args.at(-1), error);
  }
  const result = call(...args);
  if (name === 'linkSync' || (name === 'renameSync' && which(...args))) isNamed = true;
  return result;
} });
const { open } = fs.promises;
fs.promises.open = async (...args) => {
  if (isNamed) step('directory');
  return open(...args);
};`;

const [A, NAME] = [accession(1), 'f.htm'];
const [OLD, NEW, OTHER] = ['the old bytes', 'the new bytes', 'other bytes'] as const;
const entry = (bytes: string, name = NAME) => `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`;

interface Situation {
  /** What is on the disk before, and how the file is downloaded. */
  readonly entries: string;
  readonly file: string | undefined;
  readonly args: readonly string[];
  /** What `verify` says if the run dies before a step, from the first step to the last. */
  readonly verify: Readonly<Record<string, string>>;
}

const MIRROR = ['-d', 'm', '--checksums', '--done', 'done'];
const SITUATIONS: Readonly<Record<string, Situation>> = {
  'a new file': {
    entries: '',
    file: undefined,
    args: MIRROR,
    verify: {
      ...{ flush: 'same', entry: 'same', entryFlush: 'missing', name: 'missing' },
      ...{ directory: 'same', done: 'same' },
    },
  },
  'a lost file': {
    entries: entry(NEW),
    file: undefined,
    args: MIRROR,
    verify: { flush: 'missing', entryFlush: 'missing', name: 'missing', directory: 'same', done: 'same' },
  },
  'a lost file that has changed at the service': {
    entries: entry(OLD),
    file: undefined,
    args: MIRROR,
    verify: {
      ...{ flush: 'missing', entry: 'missing', entryFlush: 'missing', name: 'missing' },
      ...{ directory: 'same', comment: 'same', done: 'same' },
    },
  },
  'a file that is replaced': {
    entries: entry(OLD),
    file: OLD,
    args: [...MIRROR, '--if-exists', 'overwrite'],
    verify: {
      ...{ flush: 'same', entry: 'same', entryFlush: 'changed', name: 'changed' },
      ...{ directory: 'same', comment: 'same', done: 'same' },
    },
  },
  'a damaged file that is replaced': {
    entries: entry(NEW),
    file: OLD,
    args: [...MIRROR, '--if-exists', 'overwrite'],
    verify: { flush: 'changed', entryFlush: 'changed', name: 'changed', directory: 'same', done: 'same' },
  },
  'a file that is compared and has an old entry': {
    entries: entry(OLD),
    file: NEW,
    args: [...MIRROR, '--if-exists', 'compare'],
    verify: { entry: 'changed', entryFlush: 'same', done: 'same' },
  },
  'an existing file without an entry': {
    entries: '',
    file: NEW,
    args: MIRROR,
    verify: { entry: 'unlisted', entryFlush: 'same', done: 'same' },
  },
};

/** A mirror in one of the situations. It also has a file that nobody touches. */
async function setUp({ entries, file }: Situation) {
  const files = { [NAME]: NEW, 'g.htm': 'untouched' };
  const place = await archivePlace({ [A]: files });
  await place.write(`m/${A}/SHA256SUMS`, entry('untouched', 'g.htm') + entries);
  await place.write(`m/${A}/g.htm`, 'untouched');
  if (file !== undefined) await place.write(`m/${A}/${NAME}`, file);
  await place.write('../hook.cjs', FAULTY);
  await place.write('in', `${A}\n`);
  const line = (args: readonly string[]) => ['download', '-i', 'in', '--all', '-j', '1', '--retries', '0', ...args];
  return {
    ...place,
    /** Changes what the service has. */
    publish: (bytes: string) => Object.assign(files, { [NAME]: bytes }),
    /** A run in this process, which nothing disturbs. */
    again: (args: readonly string[]) => place.filings(line(args), place.archive.env),
    faulty: (args: readonly string[], step: string, fault: string) =>
      run(NODE, ['--require', place.at('../hook.cjs'), BIN, ...line(args)], {
        cwd: place.path,
        env: { ...place.archive.env, HOME: place.home, STEP: step, FAULT: fault, GO: place.at('go') },
      }),
    /** What `verify` says about the file, and whether all entries are right, as `sha256sum -c` wants it. */
    async state() {
      const { stdout } = await place.filings(['verify', 'm', '--json']);
      const { result = 'same' } = jsonOf(stdout).find(({ path }) => path === `m/${A}/${NAME}`) ?? {};
      const sums = linesOf(await place.read(`m/${A}/SHA256SUMS`)).filter((text) => !text.startsWith('#'));
      const bytes = await place.read(`m/${A}/${NAME}`).catch(() => undefined);
      const isRight = sums.every((text) => text.endsWith('g.htm') || (bytes && `${text}\n` === entry(`${bytes}`)));
      return { result, isRight, bytes: bytes?.toString() };
    },
  };
}

type Mirror = Awaited<ReturnType<typeof setUp>>;

async function expectRight(mirror: Mirror, bytes: string = NEW): Promise<void> {
  expect(await mirror.state()).toEqual({ result: 'same', isRight: true, bytes });
  expect((await mirror.filings(['verify', 'm'])).exitCode).toBe(0);
}

const rows = Object.entries(SITUATIONS)
  .filter(([name]) => proving || name === 'a file that is replaced')
  .flatMap(([name, situation]) =>
    Object.entries(situation.verify).map(([step, verify]) => ({ name, situation, step, verify })),
  );

/** All steps but the last, or some of them. */
const rowsOf = (...steps: string[]) => rows.filter(({ step }) => (proving ? step !== 'done' : steps.includes(step)));

describe('a run that dies', () => {
  test.for(rows)('before the step $step of $name leaves a file that verify calls $verify', async (row) => {
    const { situation, step, verify } = row;
    const mirror = await setUp(situation);
    const ended = await mirror.faulty(situation.args, step, 'kill');
    expect(ended.killedBy, ended.stderr).toBe('SIGKILL');
    const { result, isRight } = await mirror.state();
    expect(result).toBe(verify);
    // Whoever checks with `sha256sum -c` may find an entry too many, but never one too few.
    if (isRight) expect(result).toMatch(/^(same|unlisted)$/);
    // The ordinary run of the next night does not read existing files. What it leaves, `verify` still says.
    expect((await mirror.again(MIRROR)).exitCode).toBe(0);
    const left = await mirror.state();
    expect(left).toMatchObject(verify === 'changed' ? { result: 'changed' } : { result: 'same', isRight: true });
    expect((await mirror.again([...situation.args, '--done', 'anew'])).exitCode).toBe(0);
    if (verify !== 'changed' || situation.args.includes('overwrite'))
      await expectRight(mirror, (await mirror.state()).bytes);
  });
});

describe('a run that fails', () => {
  test.for(rowsOf('entryFlush', 'name'))('at the step $step of $name leaves records that are true', async (row) => {
    const { situation, step } = row;
    const mirror = await setUp(situation);
    const { exitCode, stderr } = await mirror.faulty(situation.args, step, 'EIO');
    // Without hard links, a file that replaces nothing is renamed.
    const isRenamed = step === 'name' && !situation.args.includes('overwrite');
    expect(exitCode, stderr).toBe(isRenamed ? 0 : 8);
    const { result, bytes } = await mirror.state();
    // If the old file stays, so does what was said of it before.
    if (bytes === situation.file) expect(result).toBe(Object.values(situation.verify)[0]);
    expect((await mirror.again(situation.args)).exitCode).toBe(0);
    await expectRight(mirror);
  });
});

describe('beside a whole second run', () => {
  test.for(rowsOf('name'))('before the step $step of $name, both end well', async (row) => {
    const { situation, step } = row;
    const mirror = await setUp(situation);
    const first = mirror.faulty(situation.args, step, 'wait');
    await until(async () => (await mirror.names()).includes('go.wanted'));
    const second = await mirror.again(situation.args);
    await writeFile(mirror.at('go'), '');
    const [{ exitCode, stderr }] = [await first];
    expect([second.exitCode, exitCode], stderr).toEqual([0, 0]);
    await expectRight(mirror);
  });

  test.for(rowsOf('name').filter(({ situation }) => situation.args.includes('overwrite')))(
    'that gets other bytes before the step $step of $name, verify is right',
    async ({ situation, step }) => {
      const mirror = await setUp(situation);
      const first = mirror.faulty(situation.args, step, 'wait');
      await until(async () => (await mirror.names()).includes('go.wanted'));
      mirror.publish(OTHER);
      await mirror.again(situation.args);
      await writeFile(mirror.at('go'), '');
      await first;
      const { result, bytes } = await mirror.state();
      const sums = linesOf(await mirror.read(`m/${A}/SHA256SUMS`));
      expect([NEW, OTHER]).toContain(bytes);
      // The last entry is one of the two. If it is not that of the file, `verify` says so.
      const last = sums.findLast((text) => text.endsWith(NAME));
      expect(result).toBe(`${last}\n` === entry(`${bytes}`) ? 'same' : 'changed');
      expect((await mirror.again([...situation.args, '--done', 'anew'])).exitCode).toBe(0);
      await expectRight(mirror, OTHER);
    },
  );
});
