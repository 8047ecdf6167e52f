import { chmod, link, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { longEnough } from '../patience.ts';
import { until, workplace } from './program.ts';
import { execute, listed, sha256, verified } from './verify-fixture.ts';

describe('--prune', () => {
  test('rewrites each file sorted, one entry a name, also of missing files', async () => {
    const place = await workplace();
    const path = await listed(place, 'a', { one: '1', two: '2' });
    const [one, two, gone] = ['1', '2', 'x'].map(sha256);
    await writeFile(join(path, 'SHA256SUMS'), `${two}  two\n${gone}  one\n${gone}  gone\n${one}  one\n`);
    await chmod(join(path, 'SHA256SUMS'), 0o640);
    expect(await verified(place, ['a', '--prune'])).toMatchObject({ lines: ['missing\ta/gone'], exitCode: 9 });
    expect(await readFile(join(path, 'SHA256SUMS'), 'utf8')).toBe(`${gone}  gone\n${one}  one\n${two}  two\n`);
    expect((await readdir(path)).sort()).toEqual(['SHA256SUMS', 'one', 'two']);
  });

  test('of a file with another name is refused: exit 8, and it stays as it was', async () => {
    const place = await workplace();
    const path = await listed(place, 'a', { two: '2', one: '1' });
    await link(join(path, 'SHA256SUMS'), join(place.path, 'other'));
    const before = await readFile(join(place.path, 'other'));
    expect((await verified(place, ['a', '--prune'])).exitCode).toBe(8);
    expect(await readFile(join(path, 'SHA256SUMS'))).toEqual(before);
  });

  test('killed at the rename leaves the old file or the new; the next run leaves nothing beside it (strace)', async () => {
    const place = await workplace();
    const path = await listed(place, 'a', { two: '2', one: '1' });
    const old = await readFile(join(path, 'SHA256SUMS'), 'utf8');
    const at = '-e trace=rename -e inject=rename:signal=SIGKILL';
    await place.shell(`strace -f -o /dev/null ${at} $FILINGS verify a --prune; true`);
    const after = await readFile(join(path, 'SHA256SUMS'), 'utf8');
    expect(after.split('\n').sort()).toEqual(old.split('\n').sort());
    expect((await readdir(path)).includes('.SHA256SUMS.lock')).toBe(true);
    await execute('touch', ['-d', '2001-01-01', join(path, '.SHA256SUMS.lock')]);
    expect((await verified(place, ['a', '--prune'])).exitCode).toBe(0);
    expect((await readdir(path)).sort()).toEqual(['SHA256SUMS', 'one', 'two']);
  });
});

describe('stopped', () => {
  /** A tree whose last directory holds it for ever: another process rewrites its checksum file, as far as can be seen. */
  async function held() {
    const place = await workplace();
    const path = await listed(place, 'a', { one: '1', two: '2' });
    await writeFile(join(path, 'two'), 'x');
    await writeFile(join(path, '.SHA256SUMS.lock'), '.');
    return place;
  }

  test('by the deadline: what was found is told, exit 7', async () => {
    const place = await held();
    const { stdout, stderr, exitCode, limit } = await longEnough(
      async (seconds) => {
        const ended = await place.filings(['verify', 'a', '--prune', '--json', '--deadline', `${seconds}s`]);
        return { ...ended, limit: seconds };
      },
      ({ stdout }) => stdout.includes('"result"'),
    );
    const lines = stdout
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[0]).toEqual({ v: 1, path: 'a/two', result: 'changed' });
    expect(lines[1].summary).toMatchObject({ changed: 1, exit_code: 7 });
    expect(stderr).toContain(`the deadline of ${limit} s has passed`);
    expect(exitCode).toBe(7);
  });

  test('by a signal: what was found is told, exit 130, nothing is left beside', async () => {
    const place = await held();
    const running = place.start(['verify', 'a', '--prune']);
    // It waits for the lock, looking at the file system's clock now and then.
    const path = join(place.path, 'a');
    await until(async () => (await readdir(path)).some((name) => name.endsWith('.new')));
    await until(() => running.stdout().includes('changed'));
    running.kill('SIGINT');
    const { exitCode, stdout, stderr } = await running.ended;
    expect([exitCode, stdout.toString()]).toEqual([130, 'changed\ta/two\n']);
    expect(stderr).toMatch(/1 changed\nfilings: interrupted: SIGINT\n$/);
    expect((await readdir(path)).sort()).toEqual(['.SHA256SUMS.lock', 'SHA256SUMS', 'one', 'two']);
  });

  test('in the middle of a large file', async () => {
    const place = await workplace();
    await mkdir(join(place.path, 'a'));
    // 1 TiB of nothing.
    await place.shell('truncate -s 1T a/large');
    await writeFile(join(place.path, 'a/SHA256SUMS'), `${sha256('x')}  large\n`);
    const { exitCode, stderr } = await place.filings(['verify', 'a', '--deadline', '1s']);
    expect([exitCode, stderr.includes('the deadline of 1 s has passed')]).toEqual([7, true]);
  });
});
