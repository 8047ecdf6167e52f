import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { NODE, run } from './program.ts';

const LOADER = join(import.meta.dirname, '../../bin/compiled.js');
/** Tells of every file of the build that was compiled whether V8 took what was kept of it. */
const LOADS = `
const vm = require('node:vm');
const told = [];
vm.Script = class extends vm.Script {
  constructor(source, options = {}) {
    super(source, options);
    if (options.filename) told.push(options.cachedData ? (this.cachedDataRejected ? 'refused' : 'kept') : 'new');
  }
};
const [loader, dist, directory] = process.argv.slice(1);
process.on('exit', () => console.error(told.join(' ')));
console.log(require(loader).load(dist, directory).said);`;

let dist: string;
let directory: string;
beforeEach(async () => {
  dist = await mkdtemp(join(tmpdir(), 'filings-dist-'));
  directory = await mkdtemp(join(tmpdir(), 'filings-compiled-'));
  onTestFinished(() => rm(dist, { recursive: true }));
  onTestFinished(() => rm(directory, { recursive: true }));
  await build("exports.said = require('./part.js').said;", "exports.said = 'one';");
});

async function build(main: string, part: string): Promise<void> {
  await writeFile(join(dist, 'main.js'), main);
  await writeFile(join(dist, 'part.js'), part);
}

async function load(flags: readonly string[] = []) {
  const { stdout, stderr, exitCode } = await run(NODE, [...flags, '-e', LOADS, LOADER, dist, directory], { env: {} });
  return { said: stdout.toString().trim(), loads: stderr.trim(), exitCode };
}

async function kept(): Promise<string> {
  const [name = ''] = await readdir(directory);
  return join(directory, name);
}

describe('what was compiled', () => {
  test('is taken by the next run, which keeps nothing anew', async () => {
    expect(await load()).toEqual({ said: 'one', loads: 'new new', exitCode: 0 });
    const before = await stat(await kept());
    expect(before.mode & 0o777).toBe(0o600);
    expect(await load()).toEqual({ said: 'one', loads: 'kept kept', exitCode: 0 });
    expect(await stat(await kept())).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
    expect(await readdir(directory)).toHaveLength(1);
  });

  test('is kept of each build that is installed, side by side', async () => {
    await load();
    const [first, second] = [dist, join(dist, 'second')];
    await mkdir(second);
    dist = second;
    await build("exports.said = 'another';", '');
    expect(await load()).toEqual({ said: 'another', loads: 'new', exitCode: 0 });
    expect(await readdir(directory)).toHaveLength(2);
    expect(await load()).toMatchObject({ loads: 'kept' });
    dist = first;
    expect(await load()).toMatchObject({ said: 'one', loads: 'kept kept' });
  });

  test('grows by what another run needs besides', async () => {
    await build("if (process.execArgv.includes('--trace-uncaught')) require('./part.js');", '');
    expect(await load()).toMatchObject({ loads: 'new' });
    expect(await load(['--trace-uncaught'])).toMatchObject({ loads: 'kept new' });
    expect(await load()).toMatchObject({ loads: 'kept' });
    expect(await load(['--trace-uncaught'])).toMatchObject({ loads: 'kept kept' });
  });

  test('is not taken for another build, also where only a part of it differs', async () => {
    await load();
    await build("exports.said = require('./part.js').said; // 2", "exports.said = 'two';");
    expect(await load()).toEqual({ said: 'two', loads: 'new new', exitCode: 0 });
    expect(await load()).toEqual({ said: 'two', loads: 'kept kept', exitCode: 0 });
  });

  test.each([0, 1, 40, -1])('is made anew where its file was cut at %i', async (at) => {
    await load();
    const { size } = await stat(await kept());
    await truncate(await kept(), at < 0 ? size + at : at);
    expect(await load()).toMatchObject({ said: 'one', loads: 'new new' });
    expect((await stat(await kept())).size).toBe(size);
  });

  test('is made anew where a byte of its file is another', async () => {
    await build(`exports.said = 'one';`, '');
    await load();
    const whole = await readFile(await kept());
    for (const part of [0.3, 0.5, 0.7, 0.9, 0.999]) {
      const wrong = Buffer.from(whole);
      const at = Math.floor(whole.length * part);
      wrong.writeUInt8(wrong.readUInt8(at) ^ 0x55, at);
      await writeFile(await kept(), wrong);
      expect(await load(), `byte ${at}`).toEqual({ said: 'one', loads: 'new', exitCode: 0 });
      expect(await load(), `byte ${at}`).toMatchObject({ loads: 'kept' });
    }
  });

  test('is made anew where its file’s heading is another, sound as it may look', async () => {
    await load();
    const whole = await readFile(await kept(), 'latin1');
    const swapped = whole.replace('["main.js","part.js"]', '["part.js","main.js"]');
    expect(swapped).not.toBe(whole);
    await writeFile(await kept(), swapped, 'latin1');
    expect(await load()).toEqual({ said: 'one', loads: 'new new', exitCode: 0 });
    expect(await load()).toMatchObject({ loads: 'kept kept' });
  });

  test('is made anew where its file holds something else', async () => {
    await load();
    const path = await kept();
    for (const text of ['{"names":[],"lengths":[]}\n', '[]\n', 'null\n', '\n', '\0'.repeat(5000)]) {
      await writeFile(path, text);
      expect(await load(), text).toMatchObject({ said: 'one', loads: 'new new' });
    }
    expect(await load()).toMatchObject({ loads: 'kept kept' });
  });

  test('is not kept of a run that fails, nor of one that set flags which V8 would refuse it for', async () => {
    await build("process.exitCode = 3; require('./part.js');", '');
    expect(await load()).toMatchObject({ loads: 'new new', exitCode: 3 });
    await build("require('node:v8').setFlagsFromString('--semi-space-growth-factor=1');", '');
    expect(await load()).toMatchObject({ loads: 'new', exitCode: 0 });
    expect(await readdir(directory)).toEqual([]);
  });

  test('is refused under other flags, and made anew', async () => {
    await load();
    expect(await load(['--no-opt'])).toMatchObject({ said: 'one', loads: 'refused refused' });
    expect(await load(['--no-opt'])).toMatchObject({ said: 'one', loads: 'kept kept' });
  });

  test('waits for a run that is writing it, but not for one that was killed', async () => {
    await load();
    const path = await kept();
    await rm(path);
    await writeFile(`${path}.new`, 'half');
    await load();
    expect(await readFile(`${path}.new`, 'utf8')).toBe('half');
    expect(await readdir(directory)).toHaveLength(1);
    const old = new Date(Date.now() - 3_600_000);
    await utimes(`${path}.new`, old, old);
    await load();
    expect(await readdir(directory)).toEqual([]);
    await load();
    expect(await load()).toMatchObject({ loads: 'kept kept' });
  });

  test('takes the place of what nobody has read for months, and of nothing else', async () => {
    const [forgotten, young, other] = ['compiled-v20.0.0-x64-a', 'compiled-v20.0.0-x64-b', 'names'];
    const old = new Date(Date.now() - 61 * 86_400_000);
    for (const name of [forgotten, young, other]) await writeFile(join(directory, name), '');
    for (const name of [forgotten, other]) await utimes(join(directory, name), old, old);
    await load();
    expect(await readdir(directory)).toEqual(expect.arrayContaining([young, other]));
    expect(await readdir(directory)).toHaveLength(3);
    expect(await load()).toMatchObject({ loads: 'kept kept' });
  });

  test('matters to nobody where it can’t be kept', async () => {
    directory = join(dist, 'main.js');
    expect(await load()).toEqual({ said: 'one', loads: 'new new', exitCode: 0 });
    directory = await mkdtemp(join(tmpdir(), 'filings-compiled-'));
  });

  test('says in a stack where the build’s own file has it', async () => {
    await build("exports.said = require('./part.js').said().stack;", 'exports.said = () =>   new Error("x");');
    for (const loads of ['new new', 'kept kept']) {
      const { said, ...rest } = await load();
      expect(rest.loads).toBe(loads);
      expect(said).toContain(`${join(dist, 'part.js')}:1:24`);
      expect(said).toContain(`${join(dist, 'main.js')}:1:37`);
    }
  });
});
