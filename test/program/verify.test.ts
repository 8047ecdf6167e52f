import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, rename, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { ACCESSION, type Workplace, workplace } from './run.ts';

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');
const linesOf = (text: Buffer) => text.toString('latin1').split('\n').filter(Boolean).sort();

let place: Workplace;
beforeEach(async () => {
  place = await workplace();
});

/** Files of a directory, and a SHA256SUMS that lists them. */
async function listed(directory: string, files: Record<string, string | Buffer>): Promise<string> {
  const path = join(place.path, directory);
  await mkdir(path, { recursive: true });
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(path, name), bytes);
  const lines = Object.entries(files).map(([name, bytes]) => `${sha256(bytes)}  ${name}\n`);
  await writeFile(join(path, 'SHA256SUMS'), lines.join(''));
  return path;
}

/** What `verify` prints, sorted, and its status. */
async function verified(...args: string[]) {
  const { stdout, stderr, exitCode } = await place.filings(['verify', ...args]);
  return { lines: linesOf(stdout), stderr, exitCode };
}

async function inJson(...args: string[]) {
  const { stdout, exitCode } = await place.filings(['verify', '--json', ...args]);
  const lines = stdout.toString().trimEnd().split('\n');
  return { lines: lines.map((line) => JSON.parse(line)), exitCode };
}

const shell = (script: string) => execFileSync('bash', ['-c', script], { cwd: place.path });

describe('a tree', () => {
  test('that is as listed: nothing on stdout, exit 0', async () => {
    await listed('a', { one: '1', two: '' });
    await listed('a/b', { three: Buffer.alloc(3 << 20, 7) });
    expect(await verified('a')).toEqual({
      lines: [],
      stderr: '3 of 3 files are as listed, in 2 directories (3.1 MB)\n',
      exitCode: 0,
    });
    expect(await verified('a', '-q')).toEqual({ lines: [], stderr: '', exitCode: 0 });
  });

  test('with a flipped bit, a missing and an unlisted file: as sha256sum -c says', async () => {
    const large = Buffer.alloc(5 << 20, 1);
    const path = await listed('a', { good: 'g', bad: 'b', gone: 'x', large, 'b c': 'name' });
    large[4_000_000] = 3;
    await writeFile(join(path, 'large'), large);
    await writeFile(join(path, 'bad'), 'c');
    await unlink(join(path, 'gone'));
    await writeFile(join(path, 'new'), '');
    const { lines, stderr, exitCode } = await verified('a');
    expect(lines).toEqual(['changed\ta/bad', 'changed\ta/large', 'missing\ta/gone', 'unlisted\ta/new']);
    expect(exitCode).toBe(9);
    expect(stderr).toMatch(/^2 of 5 files are as listed.*, 1 missing, 2 changed, 1 unlisted\nfilings: verify: .*\n/);
    const checked = shell('cd a; sha256sum -c SHA256SUMS 2>/dev/null; true');
    expect(linesOf(checked).filter((line) => line.includes('FAILED'))).toEqual([
      'bad: FAILED',
      'gone: FAILED open or read',
      'large: FAILED',
    ]);
  });

  test('unlisted alone is no failure; parts, records and checksum files are not unlisted', async () => {
    const path = await listed('a', { one: '1' });
    const owner = '0123abcd-89ef0123-00000000-zz-zz';
    const parts = [`.one.${owner}.1.part`, `.one.${owner}.1.resume`, '.one.of-another-version.part'];
    for (const name of [...parts, '.hidden', 'b']) await writeFile(join(path, name), '');
    await mkdir(join(path, 'directory'));
    const { lines, exitCode } = await verified('a');
    expect([lines, exitCode]).toEqual([['unlisted\ta/.hidden', 'unlisted\ta/b'], 0]);
  });

  test('without checksum files: exit 2, and nothing is unlisted', async () => {
    await mkdir(join(place.path, 'a'));
    await writeFile(join(place.path, 'a/b'), '');
    const { lines, stderr, exitCode } = await verified('a');
    expect([lines, exitCode, stderr.includes('no SHA256SUMS in these directories')]).toEqual([[], 2, true]);
  });

  test.each([
    ['nope', 'there is no such directory'],
    ['file', 'it is not a directory'],
    ['', 'is empty'],
  ])('%j is no directory: exit 2', async (argument, told) => {
    await listed('a', { one: '1' });
    await writeFile(join(place.path, 'file'), '');
    const { stderr, exitCode } = await verified('a', argument);
    expect([exitCode, stderr.includes(told)]).toEqual([2, true]);
  });

  test('named by overlapping arguments is looked through once', async () => {
    await unlink(join(await listed('a/b', { one: '1' }), 'one'));
    await symlink('a', join(place.path, 'link'));
    for (const args of [
      ['a/b', 'a', './a/', 'link'],
      ['.', 'a'],
      ['a', 'a'],
    ]) {
      expect((await verified(...args)).lines).toEqual(['missing\ta/b/one']);
    }
    // A link that is named is followed, one that is found is not.
    expect((await verified('link')).lines).toEqual(['missing\tlink/b/one']);
  });

  test('is stopped by the deadline in the middle of a large file: exit 7', async () => {
    await mkdir(join(place.path, 'a'));
    // 1 TiB of nothing.
    shell('truncate -s 1T a/large');
    await writeFile(join(place.path, 'a/SHA256SUMS'), `${sha256('x')}  large\n`);
    const { stderr, exitCode } = await verified('a', '--deadline', '300ms');
    expect([exitCode, stderr.includes('the deadline of 0.3 s has passed')]).toEqual([7, true]);
  });
});

test('among many files that are looked at without a promise, signals and deadlines have their turn', async () => {
  await mkdir(join(place.path, 'a'));
  const names = Array.from({ length: 200_000 }, (_, index) => `${sha256('x')}  f${index}\n`);
  await writeFile(join(place.path, 'a/SHA256SUMS'), names.join(''));
  const { lines, exitCode } = await verified('a', '--deadline', '200ms');
  expect(exitCode).toBe(7);
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.length).toBeLessThan(200_000);
});

test.each<[string, string]>([
  ['a link to the very file', 'mv a/one a/there; ln -s there a/one'],
  ['a FIFO', 'rm a/one; mkfifo a/one'],
  ['a directory', 'rm a/one; mkdir a/one'],
])('%s in the place of a listed file is a change, and holds nothing', async (_, planted) => {
  await listed('a', { one: '1' });
  shell(planted);
  const { lines, exitCode } = await verified('a');
  expect([lines.filter((line) => !line.startsWith('unlisted')), exitCode]).toEqual([['changed\ta/one'], 9]);
});

describe('a SHA256SUMS', () => {
  const [ONE, TWO] = [`${sha256('1')}  one\n`, `${sha256('2')}  two\n`];
  const BOTH = `${ONE}${TWO}`;

  test.each<[string, string, string[], number]>([
    ['whose last entry of a name counts', `${sha256('x')}  one\r\n${BOTH}`, [], 0],
    ['with a binary mark, blank lines, a comment', `\n# mine\n${sha256('1')} *one\n\r\n${TWO}`, [], 0],
    ['whose last line lacks its break alone', BOTH.slice(0, -1), [], 0],
    ['whose last line lacks its break, of a file that is changed', `${ONE}${sha256('x')}  two`, ['changed two'], 9],
    ['whose last name is half there', `${BOTH.slice(0, -2)}`, ['torn', 'unlisted two'], 0],
    ['whose last name is half there, and another entry’s', `${BOTH}${sha256('x')}  one`, ['torn'], 0],
    ['whose last hash is half there', `${ONE}${TWO.slice(0, 30)}`, ['torn', 'unlisted two'], 0],
    ['whose last line has no bytes on disk', `${ONE}${'\0'.repeat(70)}`, ['torn', 'unlisted two'], 0],
    ['that was emptied', '', ['damaged', 'unlisted one', 'unlisted two'], 9],
    ['of comments and blank lines', '# mine\n\n', ['damaged', 'unlisted one', 'unlisted two'], 9],
    ['that was zeroed', '\0'.repeat(140), ['damaged', 'unlisted one', 'unlisted two'], 9],
    ['that was zeroed up to its end', `${'\0'.repeat(139)}\n`, ['damaged', 'unlisted one', 'unlisted two'], 9],
    ['of one torn line', ONE.slice(0, 20), ['damaged', 'unlisted one', 'unlisted two'], 9],
    ['damaged in a digit', `x${BOTH.slice(1)}`, ['damaged', 'unlisted one'], 9],
    ['damaged to another digit', BOTH.replace('6b', '7b'), ['changed one'], 9],
    ['with a byte-order mark', `\ufeff${BOTH}`, ['damaged', 'unlisted one'], 9],
    ['with garbage between', `${ONE}<html>\n${TWO}`, ['damaged'], 9],
  ])('%s', async (_, text, expected, status) => {
    const path = await listed('a', { one: '1', two: '2' });
    await writeFile(join(path, 'SHA256SUMS'), text);
    const { lines, exitCode } = await verified('a');
    const shown = (line: string) => line.replace('\ta/SHA256SUMS', '').replace('\ta/', ' ');
    expect([lines.map(shown), exitCode]).toEqual([expected, status]);
  });

  test('that is damaged is named with its lines, and with what to do', async () => {
    await writeFile(join(await listed('a', { one: '1' }), 'SHA256SUMS'), `${ONE}<p>\n</p>\n`);
    expect((await verified('a')).stderr).toBe(
      'warning: a/SHA256SUMS: line 2 and 1 more are unreadable\n' +
        '1 of 1 files are as listed, in 1 directory (1 B), 1 SHA256SUMS damaged\n' +
        'filings: verify: 1 damaged SHA256SUMS\n' +
        '  hint: delete the unreadable lines; the same download with --checksums lists files again that have no entry\n',
    );
  });

  test('that is a link, or a FIFO, is not read: reported, exit 8, and the others go on', async () => {
    await listed('a', { one: '1' });
    await unlink(join(await listed('b', { two: '2' }), 'two'));
    shell('mkdir c d; ln -s ../a/SHA256SUMS c/SHA256SUMS; mkfifo d/SHA256SUMS');
    expect((await verified('c', 'd', 'a')).exitCode).toBe(8);
    const { lines, stderr, exitCode } = await verified('.');
    expect([lines, exitCode]).toEqual([['missing\tb/two'], 9]);
    expect(stderr).toMatch(/c\/SHA256SUMS: cannot read: a symbolic link/);
    expect(stderr).toMatch(/d\/SHA256SUMS: cannot read: it is not a regular file/);
  });

  test('made by sha256sum over odd names, bytes that are not UTF-8 among them, is understood', async () => {
    shell(`mkdir a; cd a; for name in $'new\\nline' $'car\\rriage' 'back\\slash' $'latin\\xe9' 'ümlaut' ' space ' '-dash' '*star' '.dot' $'esc\\x1b[31m'; do
      printf %s "$name" > "./$name"; done; sha256sum -- * .dot > ../sums; mv ../sums SHA256SUMS`);
    expect(await verified('a')).toMatchObject({ lines: [], exitCode: 0 });
    shell(`cd a; for name in *; do [ "$name" = SHA256SUMS ] || echo x > "./$name"; done; touch $'un\\xe8' $'t\\tab'`);
    const { stdout } = await place.filings(['verify', 'a']);
    expect(stdout.toString().split('\n').filter(Boolean).sort()).toEqual(
      ['new\\nline', 'car\\rriage', 'back\\slash', 'latin\\xe9', 'ümlaut', ' space ', '-dash', '*star', 'esc\\x1b[31m']
        .map((name) => `changed\ta/${name}`)
        .concat(['unlisted\ta/un\\xe8', 'unlisted\ta/t\\tab'])
        .sort(),
    );
    const { lines } = await inJson('a');
    expect(lines).toContainEqual({ v: 1, path: 'a/latin\\xe9', result: 'changed' });
    expect(lines).toContainEqual({ v: 1, path: 'a/new\nline', result: 'changed' });
  });
});

describe('in JSON', () => {
  test('an object a file, with what downloads it again where its path has the filing; then the summary', async () => {
    const path = await listed(`mirror/${ACCESSION}`, { one: '1', two: '2' });
    await writeFile(join(path, 'two'), 'x');
    await writeFile(join(path, 'SHA256SUMS'), `${sha256('x')}  ../up\n`, { flag: 'a' });
    await rename(join(path, 'one'), join(path, 'three'));
    await unlink(join(await listed('mirror/other', { four: '4' }), 'four'));
    const { lines, exitCode } = await inJson('mirror');
    const of = (name: string) => ({ accession_no: ACCESSION, file_name: name });
    const at = (name: string) => ({ v: 1, path: `mirror/${ACCESSION}/${name}` });
    const findings = lines.slice(0, -1);
    expect(findings.filter(({ path }) => path.includes(ACCESSION))).toEqual([
      { ...at('one'), result: 'missing', ...of('one') },
      { ...at('two'), result: 'changed', ...of('two') },
      { ...at('../up'), result: 'missing' },
      { ...at('three'), result: 'unlisted', ...of('three') },
    ]);
    expect(findings).toContainEqual({ v: 1, path: 'mirror/other/four', result: 'missing' });
    expect(lines.at(-1)).toMatchObject({
      v: 1,
      summary: { files: 4, same: 0, changed: 1, missing: 3, unlisted: 1, damaged: 0, torn: 0, bytes: 1, exit_code: 9 },
    });
    expect(exitCode).toBe(9);
  });

  test('18 digits are the same filing; a file that is named like one is none', async () => {
    const digits = ACCESSION.replaceAll('-', '');
    await unlink(join(await listed(digits, { one: '1' }), 'one'));
    await unlink(join(await listed('b', { [ACCESSION]: '1' }), ACCESSION));
    const { lines } = await inJson('.');
    expect(lines.slice(0, -1).sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
      { v: 1, path: `${digits}/one`, result: 'missing', accession_no: ACCESSION, file_name: 'one' },
      { v: 1, path: `b/${ACCESSION}`, result: 'missing' },
    ]);
  });

  test.each([
    [['mirror dir'], `verify 'mirror dir' --json | filings download -i - -d 'mirror dir' --checksums`],
    [['mirror dir', 'b'], 'verify DIR --json | filings download -i - -d DIR --checksums'],
  ])('%j: the hint is the pipeline that repairs it', async (args, hint) => {
    await unlink(join(await listed(`mirror dir/${ACCESSION}`, { one: '1' }), 'one'));
    await listed('b', { one: '1' });
    expect((await verified(...args)).stderr).toContain(`${hint} --if-exists overwrite\n`);
  });
});
