import { createHash } from 'node:crypto';
import { appendFile, mkdir, rename, symlink, truncate } from 'node:fs/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { ACCESSION, jsonOf, type Workplace, workplace } from './run.ts';

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');

let place: Workplace;
let at: Workplace['at'];
let write: Workplace['write'];
beforeEach(async () => {
  place = await workplace();
  ({ at, write } = place);
});

/** Writes files into a directory with a SHA256SUMS that lists them. Those in `gone` are listed but not written. */
async function listed(directory: string, files: Record<string, string | Buffer>, gone: string[] = []): Promise<void> {
  const entries = Object.entries(files);
  for (const [name, bytes] of entries) if (!gone.includes(name)) await write(`${directory}/${name}`, bytes);
  await write(`${directory}/SHA256SUMS`, entries.map(([name, bytes]) => `${sha256(bytes)}  ${name}\n`).join(''));
}

/** Returns the sorted lines of `verify`, its stderr and its status. */
async function verified(...args: string[]) {
  const { stdout, stderr, exitCode } = await place.filings(['verify', ...args]);
  return { lines: `${stdout}`.split('\n').filter(Boolean).sort(), stderr, exitCode };
}

async function inJson(...args: string[]) {
  const { stdout, exitCode } = await place.filings(['verify', '--json', ...args]);
  return { lines: jsonOf(stdout), exitCode };
}

describe('verify of a tree', () => {
  test('without differences prints nothing to stdout and exits with 0', async () => {
    await listed('a', { one: '1', two: '' });
    await listed('a/b', { three: Buffer.alloc(3 << 20, 7) });
    const message = '3 of 3 files are as listed, in 2 directories (3.1 MB)\n';
    expect(await verified('a')).toEqual({ lines: [], stderr: message, exitCode: 0 });
    expect(await verified('a', '-q')).toEqual({ lines: [], stderr: '', exitCode: 0 });
  });

  test('reports a flipped bit, a missing and an unlisted file, and exits with 9', async () => {
    const large = Buffer.alloc(5 << 20, 1);
    await listed('a', { good: 'g', bad: 'b', gone: 'x', large, 'b c': 'name' }, ['gone']);
    large[4_000_000] = 3;
    for (const [name, bytes] of Object.entries({ large, bad: 'c', new: '' })) await write(`a/${name}`, bytes);
    const { lines, stderr, exitCode } = await verified('a');
    const found = ['changed\ta/bad', 'changed\ta/large', 'missing\ta/gone', 'unlisted\ta/new'];
    expect([lines, exitCode]).toEqual([found, 9]);
    expect(stderr).toMatch(/^filings: verify: 2 of 5 files are as listed.*, 1 missing, 2 changed, 1 unlisted\n$/);
  });

  test('exits with 0 if files are only unlisted, and lists neither parts, kept parts nor checksum files', async () => {
    await listed('a', { one: '1' });
    const parts = ['.one.0123abcd.filings-part', '.one.filings-resume'];
    for (const name of [...parts, '.hidden', 'b']) await write(`a/${name}`, '');
    await mkdir(at('a/directory'));
    const { lines, exitCode } = await verified('a');
    expect([lines, exitCode]).toEqual([['unlisted\ta/.hidden', 'unlisted\ta/b'], 0]);
  });

  test('without checksum files exits with 2 and lists nothing', async () => {
    await write('a/b', '');
    const { lines, stderr, exitCode } = await verified('a');
    expect([lines, exitCode, stderr.includes('no SHA256SUMS in or below')]).toEqual([[], 2, true]);
  });

  test.each([
    ['nope', 'no such file or directory'],
    ['file', 'not a directory'],
  ])('exits with 2 if %j is not a directory', async (argument, message) => {
    await listed('a', { one: '1' });
    await write('file', '');
    const { stderr, exitCode } = await verified('a', argument);
    expect([exitCode, stderr.includes(message)]).toEqual([2, true]);
  });

  test('follows a link that is named, and none below, and takes absolute and relative paths', async () => {
    await listed('a/b', { one: '1' }, ['one']);
    await symlink('a', at('link'));
    expect((await verified('link')).lines).toEqual(['missing\tlink/b/one']);
    expect((await verified('.')).lines).toEqual(['missing\ta/b/one']);
    expect(await verified(at('a'))).toMatchObject({ lines: [`missing\t${at('a/b/one')}`], exitCode: 9 });
  });

  test('stops inside a large file at the deadline, reports the findings so far and exits with 7', async () => {
    await listed('a', { one: '1', two: '2', zero: '' });
    await write('a/two', 'x');
    // A sparse file of 1 TiB.
    await truncate(at('a/zero'), 2 ** 40);
    const { lines, exitCode } = await inJson('a', '--deadline', '2s');
    expect([exitCode, lines]).toMatchObject([
      7,
      [{ path: 'a/two', result: 'changed' }, { summary: { same: 1, changed: 1, exit_code: 7 } }],
    ]);
  });
});

test('verify yields to signals and deadlines while it checks many missing files', async () => {
  const names = Array.from({ length: 200_000 }, (_, index) => `${'0'.repeat(64)}  f${index}\n`);
  await write('a/SHA256SUMS', names.join(''));
  const { lines, exitCode } = await verified('a', '--deadline', '200ms');
  expect(exitCode).toBe(7);
  expect(lines.length).toBeLessThan(200_000);
});

test.each<[string, () => Promise<unknown>]>([
  ['a link to the same content', () => symlink('two', at('a/one'))],
  ['a directory', () => mkdir(at('a/one'))],
])('verify reports %s in place of a listed file as changed', async (_, plant) => {
  await listed('a', { one: '1' });
  await rename(at('a/one'), at('a/two'));
  await plant();
  const { lines, exitCode } = await verified('a');
  expect([lines.filter((line) => !line.startsWith('unlisted')), exitCode]).toEqual([['changed\ta/one'], 9]);
});

test('verify reports an entry that is not a name in its directory as missing, and does not open it', async () => {
  await listed('a', { one: '1' });
  // The content of each has the listed hash.
  const names = ['../outside', await write('outside', 'o'), '.', '..', 'b/../one'];
  await appendFile(at('a/SHA256SUMS'), names.map((name) => `${sha256('o')}  ${name}\n`).join(''));
  const { lines, stderr, exitCode } = await verified('a');
  expect([lines, exitCode]).toEqual([names.map((name) => `missing\ta/${name}`).sort(), 9]);
  for (const name of names) expect(stderr).toContain(`a/${name}: not a file name in this directory: not opened`);
});

describe('a SHA256SUMS', () => {
  const [ONE, TWO] = [`${sha256('1')}  one\n`, `${sha256('2')}  two\n`];
  const BOTH = `${ONE}${TWO}`;

  test.each<[string, string, string[], number]>([
    ['whose last entry of a name counts', `${sha256('x')}  one\r\n${BOTH}`, [], 0],
    ['whose last line lacks its break alone', `${ONE}${sha256('x')}  two`, ['torn', 'unlisted two'], 0],
    ['whose last name is cut to that of another file', `${ONE}${sha256('3')}  two`, ['torn', 'unlisted two'], 0],
    ['that is one line without its break', ONE.slice(0, -1), ['damaged', 'torn', 'unlisted one', 'unlisted two'], 9],
    ['whose last hash is cut', `${ONE}${TWO.slice(0, 30)}`, ['torn', 'unlisted two'], 0],
    ['whose last line is NUL bytes', `${ONE}${'\0'.repeat(70)}`, ['torn', 'unlisted two'], 0],
    ['that is empty', '', ['damaged', 'unlisted one', 'unlisted two'], 9],
    ['that is NUL bytes', '\0'.repeat(140), ['damaged', 'torn', 'unlisted one', 'unlisted two'], 9],
    ['with a byte-order mark', `\ufeff${BOTH}`, [], 0],
    ['whose last line is an incomplete comment', `${BOTH}#${ONE.slice(1, 30)}`, [], 0],
    ['of comments only', `#${ONE.slice(1)}\n`, ['damaged', 'unlisted one', 'unlisted two'], 9],
    ['with garbage between', `${ONE}<html>\n${TWO}`, ['damaged'], 9],
  ])('%s has the right findings and status', async (_, text, expected, status) => {
    await listed('a', { one: '1', two: '2' });
    await write('a/SHA256SUMS', text);
    const { lines, exitCode } = await verified('a');
    const simplify = (line: string) => line.replace('\ta/SHA256SUMS', '').replace('\ta/', ' ');
    expect([lines.map(simplify), exitCode]).toEqual([expected, status]);
  });

  test('that is damaged causes a warning with its lines, and a hint', async () => {
    await listed('a', { one: '1' });
    await appendFile(at('a/SHA256SUMS'), '<p>\n</p>\n');
    expect((await verified('a')).stderr).toBe(
      'filings: warning: a/SHA256SUMS: line 2 and 1 more are unreadable\n' +
        'filings: verify: 1 of 1 files are as listed, in 1 directory (1 B), 1 damaged\n' +
        '  hint: delete unreadable lines, then download again with --checksums, which lists the files without a line\n',
    );
  });

  test('that is a link is not read, causes exit status 8, and the other directories are checked', async () => {
    await listed('a', { one: '1' });
    await mkdir(at('c'));
    await symlink('../a/SHA256SUMS', at('c/SHA256SUMS'));
    const { lines, stderr, exitCode } = await verified('c', 'a');
    expect([lines, exitCode, stderr.includes('1 of 1 files are as listed')]).toEqual([[], 8, true]);
    expect(stderr).toMatch(/c\/SHA256SUMS: cannot read: a symbolic link/);
    await listed('b', { two: '2' }, ['two']);
    expect(await verified('.')).toMatchObject({ lines: ['missing\tb/two'], exitCode: 9 });
  });

  test('may have odd names', async () => {
    const names = ['esc\x1b[31m', 'new\nline', 't\tab'];
    for (const name of names) await write(`a/${name}`, 'x');
    await write('a/SHA256SUMS', `\\${sha256('1')}  new\\nline\n${sha256('1')}  esc\x1b[31m\n`);
    const found = ['changed\ta/esc\\x1b[31m', 'changed\ta/new\\nline', 'unlisted\ta/t\\tab'];
    expect((await verified('a')).lines).toEqual(found);
    expect((await inJson('a')).lines).toContainEqual({ v: 1, path: 'a/new\nline', result: 'changed' });
  });
});

describe('verify --json', () => {
  test('prints one object per file, with the filing if the path has it, and then the summary', async () => {
    const filing = `mirror/${ACCESSION}`;
    await listed(filing, { one: '1', two: '2' }, ['one']);
    for (const name of ['two', 'three']) await write(`${filing}/${name}`, 'x');
    await appendFile(at(`${filing}/SHA256SUMS`), `${sha256('x')}  ../up\n`);
    await listed('mirror/other', { four: '4' }, ['four']);
    const { lines, exitCode } = await inJson('mirror');
    expect(exitCode).toBe(9);
    const of = (name: string) => ({ accession_no: ACCESSION, file_name: name });
    const found = (name: string) => ({ v: 1, path: `${filing}/${name}` });
    const findings = lines.slice(0, -1);
    expect(findings.filter((line) => line.path.includes(ACCESSION))).toEqual([
      { ...found('one'), result: 'missing', ...of('one') },
      { ...found('two'), result: 'changed', ...of('two') },
      { ...found('../up'), result: 'missing' },
      { ...found('three'), result: 'unlisted', ...of('three') },
    ]);
    expect(findings).toContainEqual({ v: 1, path: 'mirror/other/four', result: 'missing' });
    expect(lines.at(-1)).toMatchObject({
      v: 1,
      summary: { files: 4, same: 0, changed: 1, missing: 3, unlisted: 1, damaged: 0, torn: 0, bytes: 1, exit_code: 9 },
    });
  });

  test('recognises 18 digits as a filing in a directory name, but not in a file name', async () => {
    const digits = ACCESSION.replaceAll('-', '');
    await listed(digits, { one: '1' }, ['one']);
    await listed('b', { [ACCESSION]: '1' }, [ACCESSION]);
    const { lines } = await inJson('.');
    const one = { v: 1, path: `${digits}/one`, result: 'missing', accession_no: ACCESSION, file_name: 'one' };
    expect(lines).toHaveLength(3);
    for (const line of [one, { v: 1, path: `b/${ACCESSION}`, result: 'missing' }]) expect(lines).toContainEqual(line);
  });

  test.each<[directories: string[], hint: string | undefined]>([
    [['mirror dir'], "filings verify 'mirror dir' --json | filings download -i - -d 'mirror dir' --checksums"],
    [[`mirror dir/${ACCESSION}`], `-d 'mirror dir/${ACCESSION}' --layout '{file_name}' --checksums`],
    [['mirror dir', 'b'], undefined],
    [['c'], undefined],
    [[`${ACCESSION}/files`], undefined],
  ])('hints at the pipeline that repairs %j, if there is one', async (directories, hint) => {
    for (const directory of [`mirror dir/${ACCESSION}`, 'c', `${ACCESSION}/files`]) {
      await listed(directory, { one: '1' }, ['one']);
    }
    await listed('b', { one: '1' });
    const { stderr } = await verified(...directories);
    if (hint) expect(stderr).toContain(`${hint} --if-exists overwrite\n`);
    else expect(stderr).not.toContain('hint:');
  });
});
