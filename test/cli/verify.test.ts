import { createHash } from 'node:crypto';
import { mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until, type Workplace, workplace } from './program.ts';

const sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('hex');

/** Files of a directory, and a SHA256SUMS that lists them. */
async function listed(place: Workplace, directory: string, files: Record<string, string>): Promise<string> {
  const path = join(place.path, directory);
  await mkdir(path, { recursive: true });
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(path, name), bytes);
  const lines = Object.entries(files).map(([name, bytes]) => `${sha256(bytes)}  ${name}\n`);
  await writeFile(join(path, 'SHA256SUMS'), lines.join(''));
  return path;
}

test('an entry that is no name in its directory is reported, and never opened (strace)', async () => {
  const place = await workplace();
  const path = await listed(place, 'a', { one: '1' });
  const outside = join(place.path, 'outside');
  await writeFile(outside, 'o');
  await place.shell('mkfifo fifo');
  const names = ['../outside', outside, '../fifo', '.', '..', 'b/../one'];
  await writeFile(join(path, 'SHA256SUMS'), names.map((name) => `${sha256('o')}  ${name}\n`).join(''), { flag: 'a' });
  const log = join(place.home, 'calls');
  const { stdout, stderr } = await place.shell(
    `strace -f -o ${log} -e trace=openat,open,stat,lstat $FILINGS verify a; echo $?`,
  );
  expect(stdout.toString().trimEnd().split('\n')).toEqual([...names.map((name) => `missing\ta/${name}`), '9']);
  for (const name of names) expect(stderr).toContain(`a/${name}: not a file name in this directory: not opened`);
  expect(await readFile(log, 'latin1')).not.toMatch(/outside|fifo|b\/\.\.\/one/);
});

test('a file or a directory that the disk cannot read is reported, exit 8, and the rest goes on (strace)', async () => {
  const place = await workplace();
  const path = await listed(place, 'a', { one: '1', two: '2' });
  const inject = `-P ${join(path, 'one')} -e trace=read -e inject=read:error=EIO`;
  const { stdout, stderr } = await place.shell(`strace -f -o /dev/null ${inject} $FILINGS verify a; echo $?`);
  expect(stdout.toString()).toBe('8\n');
  expect(stderr).toMatch(/a\/one: cannot read: the disk reported an error/);
  await unlink(join(await listed(place, 'b', { three: '3' }), 'three'));
  await listed(place, 'b/c', { four: '4' });
  const directory = `-P ${join(place.path, 'b/c')} -e trace=getdents64 -e inject=getdents64:error=EIO`;
  const below = await place.shell(`strace -f -o /dev/null ${directory} $FILINGS verify b; echo $?`);
  expect(below.stdout.toString()).toBe('missing\tb/three\n9\n');
  expect(below.stderr).toMatch(/b\/c: cannot read: the disk reported an error/);
});

test('a reader that goes away ends it with 141, quietly; a stdout that cannot be written with 8', async () => {
  const place = await workplace();
  const names = Array.from({ length: 20_000 }, (_, index) => `${sha256('x')}  f${index}\n`);
  await mkdir(join(place.path, 'a'));
  await writeFile(join(place.path, 'a/SHA256SUMS'), names.join(''));
  const { stdout, stderr } = await place.shell(`$FILINGS verify a -q | head -1; echo "\${PIPESTATUS[0]}"`);
  expect([stdout.toString().split('\n').slice(-2), stderr]).toEqual([['141', ''], '']);
  const full = await place.shell('$FILINGS verify a -q > /dev/full; echo $?');
  expect([full.stdout.toString(), full.stderr]).toEqual([
    '8\n',
    expect.stringContaining('stdout: cannot write: the disk is full'),
  ]);
});

test('a signal in the middle of a large file ends it at once: what was found is reported, exit 130', async () => {
  const place = await workplace();
  await listed(place, 'a', { one: '1', two: '2' });
  await place.shell(`echo x > a/two; truncate -s 1T a/zero; echo "${sha256('x')}  zero" >> a/SHA256SUMS`);
  const running = place.start(['verify', 'a', '--json']);
  await until(() => running.stdout().includes('changed'));
  running.kill('SIGINT');
  const { exitCode, stdout, stderr } = await running.ended;
  const lines = stdout.toString().trimEnd().split('\n');
  expect([exitCode, lines.map((line) => JSON.parse(line))]).toMatchObject([
    130,
    [{ path: 'a/two', result: 'changed' }, { summary: { same: 1, changed: 1, exit_code: 130 } }],
  ]);
  expect(stderr).toMatch(/1 changed\nfilings: interrupted: SIGINT\n$/);
});
