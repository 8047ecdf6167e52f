import { mkdir, readFile, rename, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { workplace } from './program.ts';
import { execute, linesOf, listed, sha256, verified } from './verify-fixture.ts';

describe('a tree', () => {
  test('that is as listed: nothing on stdout, exit 0', async () => {
    const place = await workplace();
    await listed(place, 'a', { one: '1', two: '' });
    await listed(place, 'a/b', { three: Buffer.alloc(3 << 20, 7) });
    expect(await verified(place, ['a'])).toEqual({
      lines: [],
      stderr: '3 of 3 files are as listed, in 2 directories (3.1 MB)\n',
      exitCode: 0,
    });
    expect(await verified(place, ['a', '-q'])).toEqual({ lines: [], stderr: '', exitCode: 0 });
  });

  test('with a flipped bit, a missing and an unlisted file: as sha256sum -c says', async () => {
    const place = await workplace();
    const large = Buffer.alloc(5 << 20, 1);
    const path = await listed(place, 'a', { good: 'g', bad: 'b', gone: 'x', large, 'b c': 'name' });
    large[4_000_000] = 3;
    await writeFile(join(path, 'large'), large);
    await writeFile(join(path, 'bad'), 'c');
    await unlink(join(path, 'gone'));
    await writeFile(join(path, 'new'), '');
    const { lines, stderr, exitCode } = await verified(place, ['a']);
    expect(lines).toEqual(['changed\ta/bad', 'changed\ta/large', 'missing\ta/gone', 'unlisted\ta/new']);
    expect(exitCode).toBe(9);
    expect(stderr).toMatch(
      /^2 of 5 files are as listed.*, 1 missing, 2 changed, 1 unlisted\nfilings: verify: .*\n {2}hint: /,
    );
    const reference = await execute('sha256sum', ['-c', 'SHA256SUMS'], { cwd: path }).catch((error) => error);
    const failed = linesOf(Buffer.from(reference.stdout)).filter((line) => line.includes('FAILED'));
    expect(failed).toEqual(['bad: FAILED', 'gone: FAILED open or read', 'large: FAILED']);
  });

  test('unlisted alone is no failure; parts, records and checksum files are not unlisted', async () => {
    const place = await workplace();
    const path = await listed(place, 'a', { one: '1' });
    const owner = '0123abcd-89ef0123-00000000-zz-zz';
    const parts = [`.one.${owner}.1.part`, `.one.${owner}.1.resume`, '.one.of-another-version.part'];
    for (const name of [...parts, '.SHA256SUMS.lock', '.hidden', 'b']) {
      await writeFile(join(path, name), '');
    }
    await mkdir(join(path, 'directory'));
    const { lines, exitCode } = await verified(place, ['a']);
    expect([lines, exitCode]).toEqual([['unlisted\ta/.hidden', 'unlisted\ta/b'], 0]);
  });

  test('without checksum files: exit 2, and nothing is unlisted', async () => {
    const place = await workplace();
    await mkdir(join(place.path, 'a'));
    await writeFile(join(place.path, 'a/b'), '');
    const { lines, stderr, exitCode } = await verified(place, ['a']);
    expect([lines, exitCode]).toEqual([[], 2]);
    expect(stderr).toContain('there is no SHA256SUMS');
  });

  test.each([
    ['nope', 'there is no such directory'],
    ['file', 'it is no directory'],
    ['', 'is empty'],
  ])('%j is no directory: exit 2', async (argument, told) => {
    const place = await workplace();
    await listed(place, 'a', { one: '1' });
    await writeFile(join(place.path, 'file'), '');
    const { stderr, exitCode } = await verified(place, ['a', argument]);
    expect([exitCode, stderr.includes(told)]).toEqual([2, true]);
  });

  test('named by overlapping arguments is looked through once', async () => {
    const place = await workplace();
    await unlink(join(await listed(place, 'a/b', { one: '1' }), 'one'));
    await symlink('a', join(place.path, 'link'));
    for (const args of [
      ['a/b', 'a', './a/', 'link'],
      ['.', 'a'],
      ['a', 'a'],
    ]) {
      expect((await verified(place, args)).lines).toEqual(['missing\ta/b/one']);
    }
    // A link that is named is followed, one that is found is not.
    expect((await verified(place, ['link'])).lines).toEqual(['missing\tlink/b/one']);
  });

  test('of more files than an order has, in more directories than threads', async () => {
    const place = await workplace();
    const names = Array.from({ length: 300 }, (_, index) => `f${index}`);
    for (const directory of ['a/1', 'a/2', 'a/3', 'a/4', 'a/5']) {
      await listed(place, directory, Object.fromEntries(names.map((name) => [name, `${directory}${name}`])));
    }
    for (const [from, to] of [
      ['1', '2'],
      ['3', '4'],
    ]) {
      await rename(join(place.path, `a/${from}/f299`), join(place.path, `a/${to}/f7`));
    }
    const expected = ['changed\ta/2/f7', 'changed\ta/4/f7', 'missing\ta/1/f299', 'missing\ta/3/f299'];
    for (const jobs of ['1', '3']) expect((await verified(place, ['a', '-j', jobs])).lines).toEqual(expected);
  });

  test('in JSON: an object a file, then the summary', async () => {
    const place = await workplace();
    const path = await listed(place, 'a', { one: '1', two: '2' });
    await writeFile(join(path, 'two'), 'x');
    const { stdout, exitCode } = await place.filings(['verify', 'a', '--json']);
    const [finding, last] = stdout
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(finding).toEqual({ v: 1, path: 'a/two', result: 'changed' });
    expect(last).toMatchObject({
      v: 1,
      summary: { files: 2, same: 1, changed: 1, missing: 0, unlisted: 0, bytes: 2, exit_code: 9 },
    });
    expect(exitCode).toBe(9);
  });
});

describe('a checksum file', () => {
  test('with entries that are no names there: reported, and never opened', async () => {
    const place = await workplace();
    const path = await listed(place, 'a', { one: '1' });
    const outside = join(place.path, 'outside');
    await writeFile(outside, 'o');
    await execute('mkfifo', [join(place.path, 'fifo')]);
    const names = ['../outside', outside, '../fifo', '.', '..', 'b/../one'];
    await writeFile(join(path, 'SHA256SUMS'), names.map((name) => `${sha256('o')}  ${name}\n`).join(''), { flag: 'a' });
    const log = join(place.home, 'calls');
    const { stdout, stderr } = await place.shell(
      `strace -f -o ${log} -e trace=openat,open,stat,lstat $FILINGS verify a; echo $?`,
    );
    expect(linesOf(stdout)).toEqual(['9', ...names.map((name) => `missing\ta/${name}`)].sort());
    for (const name of names) expect(stderr).toContain(`'${name}' is no name in that directory`);
    expect(await readFile(log, 'latin1')).not.toMatch(/outside|fifo|b\/\.\.\/one/);
  });

  test.each<[string, (one: string) => Promise<unknown>]>([
    [
      'a link to the very file',
      async (one) => {
        await rename(one, `${one}.there`);
        await symlink('one.there', one);
      },
    ],
    [
      'a FIFO',
      async (one) => {
        await unlink(one);
        await execute('mkfifo', [one]);
      },
    ],
    [
      'a directory',
      async (one) => {
        await unlink(one);
        await mkdir(one);
      },
    ],
  ])('%s in the place of a listed file is a change, and holds nothing', async (_, plant) => {
    const place = await workplace();
    const path = await listed(place, 'a', { one: '1' });
    await plant(join(path, 'one'));
    const { lines, exitCode } = await verified(place, ['a']);
    expect([lines.filter((line) => !line.startsWith('unlisted')), exitCode]).toEqual([['changed\ta/one'], 9]);
  });

  test('the last entry counts, garbage is told, a torn line at the end is passed over', async () => {
    const place = await workplace();
    const path = await listed(place, 'a', { one: '1', two: '2' });
    const text = `${sha256('x')}  one\r\n<garbage>\n${sha256('1')} *one\n${sha256('2')}  two\r\n${sha256('2')}  tw`;
    await writeFile(join(path, 'SHA256SUMS'), text);
    const { lines, stderr, exitCode } = await verified(place, ['a']);
    expect([lines, exitCode]).toEqual([[], 0]);
    expect(stderr).toContain('warning: a/SHA256SUMS: passed over 1 line that is no entry');
    expect(stderr).toContain("warning: a/SHA256SUMS: its last line is torn: 'tw' is passed over");
  });

  test('of each shard is read; of a name in several, the one changed last counts', async () => {
    const place = await workplace();
    const path = await listed(place, 'a', { one: '1', two: '2' });
    await writeFile(join(path, 'SHA256SUMS'), `${sha256('old')}  one\n`);
    await writeFile(join(path, 'SHA256SUMS.1-of-2'), `${sha256('1')}  one\n${sha256('2')}  two\n`);
    await execute('touch', ['-d', '2001-01-01', join(path, 'SHA256SUMS')]);
    expect(await verified(place, ['a', '--prune'])).toMatchObject({ lines: [], exitCode: 0 });
    expect(await verified(place, ['a'])).toMatchObject({ lines: [], exitCode: 0 });
    await execute('touch', ['-d', '2001-01-01', join(path, 'SHA256SUMS.1-of-2')]);
    await execute('touch', ['-d', '2001-01-02', join(path, 'SHA256SUMS')]);
    expect(await verified(place, ['a'])).toMatchObject({ lines: ['changed\ta/one'], exitCode: 9 });
  });

  test('made by sha256sum over odd names, bytes that are not UTF-8 among them, is understood', async () => {
    const place = await workplace();
    const odd = `mkdir a; cd a; for name in $'new\\nline' $'car\\rriage' 'back\\slash' $'latin\\xe9' 'ümlaut' ' space ' '-dash' '*star' '.dot' $'esc\\x1b[31m'; do
      printf %s "$name" > "./$name"; done; sha256sum -- * .dot > ../sums; mv ../sums SHA256SUMS`;
    await place.shell(odd);
    expect(await verified(place, ['a'])).toMatchObject({ lines: [], exitCode: 0 });
    await place.shell(
      `cd a; for name in *; do [ "$name" = SHA256SUMS ] || echo changed > "./$name"; done; touch $'un\\xe8' $'t\\tab'`,
    );
    const { stdout } = await place.filings(['verify', 'a']);
    expect(stdout.toString().split('\n').filter(Boolean).sort()).toEqual(
      ['new\\nline', 'car\\rriage', 'back\\slash', 'latin\\xe9', 'ümlaut', ' space ', '-dash', '*star', 'esc\\x1b[31m']
        .map((name) => `changed\ta/${name}`)
        .concat(['unlisted\ta/un\\xe8', 'unlisted\ta/t\\tab'])
        .sort(),
    );
    const json = await place.filings(['verify', 'a', '--json']);
    const found = json.stdout
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(found).toContainEqual({
      v: 1,
      path: 'a/latin\\xe9',
      path_base64: Buffer.from('a/latin\xe9', 'latin1').toString('base64'),
      result: 'changed',
    });
    expect(found).toContainEqual({ v: 1, path: 'a/new\nline', result: 'changed' });
    // Of what has no escape but the file's own bytes, sha256sum reads back what was pruned.
    await place.shell('cd a; for name in *; do [ "$name" = SHA256SUMS ] || printf %s "$name" > "./$name"; done');
    await place.filings(['verify', 'a', '--prune']);
    const { stdout: checked } = await place.shell('cd a; sha256sum -c --quiet SHA256SUMS; echo $?');
    expect(checked.toString()).toBe('0\n');
  });

  test('that is a link, or a FIFO, is not read: told, exit 8, and the others go on', async () => {
    const place = await workplace();
    await listed(place, 'a', { one: '1' });
    await unlink(join(await listed(place, 'b', { two: '2' }), 'two'));
    await mkdir(join(place.path, 'c'));
    await symlink('../a/SHA256SUMS', join(place.path, 'c/SHA256SUMS'));
    await mkdir(join(place.path, 'd'));
    await execute('mkfifo', [join(place.path, 'd/SHA256SUMS')]);
    expect((await verified(place, ['c', 'd', 'a'])).exitCode).toBe(8);
    const { lines, stderr, exitCode } = await verified(place, ['.']);
    expect([lines, exitCode]).toEqual([['missing\tb/two'], 9]);
    expect(stderr).toMatch(/c\/SHA256SUMS: cannot read: a symbolic link/);
    expect(stderr).toMatch(/d\/SHA256SUMS: cannot read: it is no plain file/);
  });
});

describe('what can’t be read', () => {
  test('a listed file, a directory: told, exit 8, and the rest goes on (strace)', async () => {
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

  test('a reader that goes away ends it with 141, quietly', async () => {
    const place = await workplace();
    const names = Array.from({ length: 20_000 }, (_, index) => `${sha256('x')}  f${index}\n`);
    await mkdir(join(place.path, 'a'));
    await writeFile(join(place.path, 'a/SHA256SUMS'), names.join(''));
    const { stdout, stderr } = await place.shell(`$FILINGS verify a -q | head -1; echo "\${PIPESTATUS[0]}"`);
    expect([stdout.toString().split('\n').slice(-2), stderr]).toEqual([['141', ''], '']);
  });

  test('a stdout that can’t be written: exit 8', async () => {
    const place = await workplace();
    await unlink(join(await listed(place, 'a', { one: '1' }), 'one'));
    const { stdout, stderr } = await place.shell('$FILINGS verify a -q > /dev/full; echo $?');
    expect([stdout.toString(), stderr]).toEqual([
      '8\n',
      expect.stringContaining('stdout: cannot be written: no space left on device (ENOSPC)'),
    ]);
  });
});
