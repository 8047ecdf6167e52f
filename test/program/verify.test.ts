import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { appendFile, mkdir, rename, symlink, truncate } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { describe, expect } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { ACCESSION, test as base, jsonOf, type RunOptions } from './run.ts';

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Writes directories with a SHA256SUMS, and runs `filings verify`. */
const test = base.extend('tree', ({ place }) => {
  const verify = (args: string[], own?: RunOptions) => place.filings(['verify', ...args], {}, own);
  return {
    ...place,
    verify,
    /** Writes files with a SHA256SUMS that lists them. Those in `gone` are listed, but not written. */
    async listed(directory: string, files: Record<string, string | Buffer>, gone: string[] = []) {
      const all = Object.entries(files);
      for (const [name, bytes] of all) if (!gone.includes(name)) await place.write(`${directory}/${name}`, bytes);
      const sums = all.map(([name, bytes]) => `${sha256(bytes)}  ${name}\n`);
      await place.write(`${directory}/SHA256SUMS`, sums.join(''));
    },
    /** Returns the sorted lines of stdout, stderr and the exit status. */
    async verified(...args: string[]) {
      const { stdout, ...ended } = await verify(args);
      return { ...ended, lines: `${stdout}`.split('\n').filter(Boolean).sort() };
    },
  };
});

describe('verify of a tree', () => {
  test('without differences prints nothing to stdout and exits with 0', async ({ tree: { listed, verified } }) => {
    await listed('a', { one: '1', two: '' });
    await listed('a/b', { three: Buffer.alloc(3 << 20, 7) });
    const stderr = '3 of 3 files match their checksums in 2 directories (3.1 MB)\n';
    expect(await verified('a')).toEqual({ lines: [], stderr, exitCode: 0 });
    expect(await verified('a', '-q')).toEqual({ lines: [], stderr: '', exitCode: 0 });
  });

  test('reports a flipped bit, a missing and an unlisted file, and exits with 9', async ({ tree }) => {
    const large = Buffer.alloc(5 << 20, 1);
    await tree.listed('a', { good: 'g', bad: 'b', gone: 'x', large, 'b c': 'name' }, ['gone']);
    large[4_000_000] = 3;
    for (const [name, bytes] of Object.entries({ large, bad: 'c', new: '' })) await tree.write(`a/${name}`, bytes);
    const { lines, stderr, exitCode } = await tree.verified('a');
    const found = ['changed\ta/bad', 'changed\ta/large', 'missing\ta/gone', 'unlisted\ta/new'];
    expect([exitCode, lines]).toEqual([9, found]);
    expect(stderr).toMatch(
      /^filings: verify: 2 of 5 files match their checksums.*, 1 missing, 2 changed, 1 unlisted\n {2}hint: .*\n$/,
    );
  });

  test('exits with 0 if files are only unlisted, which parts and checksum files are not', async ({ tree }) => {
    await tree.listed('a', { one: '1' });
    for (const name of ['.one.0123abcd.filings-part', '.one.filings-resume', '.hidden', 'b', 'directory/c'])
      await tree.write(`a/${name}`, '');
    expect(await tree.verified('a')).toMatchObject({ lines: ['unlisted\ta/.hidden', 'unlisted\ta/b'], exitCode: 0 });
  });

  test.for`
    args              | message
    ${['empty']}      | ${'no SHA256SUMS in or below'}
    ${['a', 'nope']}  | ${'no such file or directory'}
    ${['a', 'a/one']} | ${'not a directory'}
  `('exits with 2 and lists nothing: $args', async ({ args, message }, { tree: { at, listed, verified } }) => {
    await listed('a', { one: '1' });
    await mkdir(at('empty'));
    const stderr = expect.stringContaining(message);
    expect(await verified(...args)).toEqual({ lines: [], stderr, exitCode: 2 });
  });

  test('follows a link that is named, and none below, and takes absolute and relative paths', async ({ tree }) => {
    await tree.listed('a/b', { one: '1' }, ['one']);
    await symlink('a', tree.at('link'));
    expect((await tree.verified('link')).lines).toEqual(['missing\tlink/b/one']);
    expect((await tree.verified('.')).lines).toEqual(['missing\ta/b/one']);
    expect((await tree.verified(tree.at('a'))).lines).toEqual([`missing\t${tree.at('a/b/one')}`]);
  });
});

describe('at the deadline verify stops and exits with 7', () => {
  /** Verifies `a` with a deadline that passes right after the first finding. Returns the findings and the summary. */
  async function stopped(tree: {
    verify(args: string[], own: RunOptions): Promise<{ exitCode: number; stderr: string }>;
  }) {
    const printed = new EventEmitter();
    const lines: Buffer[] = [];
    const stdout = new Writable({
      write(line, _encoding, done) {
        lines.push(line);
        setImmediate(() => printed.emit('first'));
        done();
      },
    });
    const { exitCode, stderr } = await tree.verify(['a', '--json', '--deadline', '1h'], {
      stdout,
      sleep: (ms, signal) => (ms === 3_600_000 ? once(printed, 'first').then(() => {}) : sleep(ms, signal)),
    });
    expect([exitCode, stderr]).toEqual([7, expect.stringMatching(/^\d+ of \d+ files match/m)]);
    return jsonOf(Buffer.concat(lines));
  }

  test('inside a large file', async ({ tree }) => {
    await tree.listed('a', { one: '1', two: '2', zero: '' });
    await tree.write('a/two', 'x');
    // A sparse file of 4 GiB, which takes seconds.
    await truncate(tree.at('a/zero'), 2 ** 32);
    expect(await stopped(tree)).toMatchObject([{ path: 'a/two', result: 'changed' }]);
  });

  test('between many missing files', async ({ tree }) => {
    const names = Array.from({ length: 50_000 }, (_, index) => `${'0'.repeat(64)}  f${index}\n`);
    await tree.write('a/SHA256SUMS', names.join(''));
    expect((await stopped(tree)).length).toBeLessThan(50_000);
  });
});

test('verify reports a link and a directory in place of a listed file as changed', async ({ tree }) => {
  await tree.listed('a', { link: '1', directory: '2' }, ['directory']);
  await rename(tree.at('a/link'), tree.at('same'));
  await symlink('../same', tree.at('a/link'));
  await mkdir(tree.at('a/directory'));
  expect(await tree.verified('a')).toMatchObject({ lines: ['changed\ta/directory', 'changed\ta/link'], exitCode: 9 });
});

test.skipIf(process.platform !== 'linux')(
  'verify reports a directory whose name is not UTF-8 as damaged, and checks the others',
  async ({ tree }) => {
    await tree.listed('a', { one: '1' });
    await mkdir(Buffer.from(`${tree.at('a')}/caf\xe9`, 'latin1'));
    const hint = expect.stringMatching(/ path is not UTF-8.*\n.* 1 of 1 files match .*\n +hint: rename/);
    expect(await tree.verified('a')).toEqual({ lines: ['damaged\ta/caf\\ufffd'], stderr: hint, exitCode: 9 });
    // Node has decoded the argument already.
    expect(await tree.verified('a/caf\ufffd/below', 'a')).toMatchObject({
      lines: ['damaged\ta/caf\\ufffd', 'damaged\ta/caf\\ufffd/below'],
      exitCode: 9,
    });
  },
);

test('verify reports an entry that is no name in its directory as missing, and does not open it', async ({ tree }) => {
  await tree.listed('a', { one: '1' });
  // The content of each has the listed hash.
  const names = ['../outside', await tree.write('outside', 'o'), '.', '..', 'b/../one'];
  await appendFile(tree.at('a/SHA256SUMS'), names.map((name) => `${sha256('o')}  ${name}\n`).join(''));
  const { lines, stderr, exitCode } = await tree.verified('a');
  expect([lines, exitCode]).toEqual([names.map((name) => `missing\ta/${name}`).sort(), 9]);
  for (const name of names)
    expect(stderr).toContain(`a/${name}: not opened, because no file in this directory can have this name`);
});

describe('a SHA256SUMS', () => {
  const [ONE, TWO] = [`${sha256('1')}  one\n`, `${sha256('2')}  two\n`];
  const FALSE = `${sha256('3')}  one\n`;
  const NEITHER = ['unlisted one', 'unlisted two'];
  const NOT_TWO = ['torn', 'unlisted two'];

  test.for`
    what                                       | text                                     | found                              | exit
    ${'whose last entry of a name counts'}     | ${`${sha256('x')}  one\r\n${ONE}${TWO}`} | ${[]}                              | ${0}
    ${'whose last line lacks its break alone'} | ${`${ONE}${sha256('x')}  two`}           | ${NOT_TWO}                         | ${0}
    ${'whose last line is cut'}                | ${`${ONE}${TWO.slice(0, 30)}`}           | ${NOT_TWO}                         | ${0}
    ${'whose last line is NUL bytes'}          | ${`${ONE}${'\0'.repeat(70)}`}            | ${NOT_TWO}                         | ${0}
    ${'whose last comment is incomplete'}      | ${`${ONE}${TWO}#${ONE.slice(1, 30)}`}    | ${[]}                              | ${0}
    ${'that is one line without its break'}    | ${ONE.slice(0, -1)}                      | ${['damaged', 'torn', ...NEITHER]} | ${9}
    ${'that is empty'}                         | ${''}                                    | ${['damaged', ...NEITHER]}         | ${9}
    ${'of comments only'}                      | ${`#${ONE.slice(1)}\n`}                  | ${['damaged', ...NEITHER]}         | ${9}
    ${'with a byte-order mark'}                | ${`\ufeff${ONE}${TWO}`}                  | ${[]}                              | ${0}
    ${'with two wrong entries of a name'}      | ${`${FALSE}${FALSE}${TWO}`}              | ${['changed one']}                 | ${9}
    ${'with a line of more than 1 MiB'}        | ${`${ONE}${'x'.repeat(2 ** 20 + 1)}\n`}  | ${['damaged']}                     | ${9}
    ${'with garbage between'}                  | ${`${ONE}<html>\n${TWO}`}                | ${['damaged']}                     | ${9}
  `('$what has the right findings and status', async ({ text, found, exit }, { tree }) => {
    await tree.listed('a', { one: '1', two: '2' });
    await tree.write('a/SHA256SUMS', text);
    const { lines, exitCode } = await tree.verified('a');
    const simplify = (line: string) => line.replace('\ta/SHA256SUMS', '').replace('\ta/', ' ');
    expect([lines.map(simplify), exitCode]).toEqual([found, exit]);
  });

  test.for`
    text                   | warning                               | same                                                                                | hint
    ${`${ONE}<p>\n</p>\n`} | ${'line 2 and 1 more are unreadable'} | ${'1 of 1 files match their checksums in 1 directory (1 B), 1 damaged'}             | ${'delete the unreadable lines, then download again with --checksums --if-exists compare'}
    ${''}                  | ${'it has no entries'}                | ${'0 of 0 files match their checksums in 1 directory (0 B), 1 unlisted, 1 damaged'} | ${'download again with --checksums, which lists the files'}
  `('that is damaged causes a warning and a hint: $warning', async ({ text, warning, same, hint }, { tree }) => {
    await tree.write('a/one', '1');
    await tree.write('a/SHA256SUMS', `${text}`);
    const { stderr } = await tree.verified('a');
    expect(stderr).toBe(`filings: warning: a/SHA256SUMS: ${warning}\nfilings: verify: ${same}\n  hint: ${hint}\n`);
  });

  test('that is a link is not read, and the other directories are checked', async ({ tree }) => {
    await tree.listed('a', { one: '1' });
    await mkdir(tree.at('c'));
    await symlink('../a/SHA256SUMS', tree.at('c/SHA256SUMS'));
    const { lines, stderr, exitCode } = await tree.verified('c', 'a');
    expect([lines, exitCode]).toEqual([[], 8]);
    expect(stderr).toMatch(
      /c\/SHA256SUMS: cannot read: it is a symbolic link[\s\S]* 1 of 1 files match their checksums/,
    );
    await tree.listed('b', { two: '2' }, ['two']);
    expect(await tree.verified('.')).toMatchObject({ lines: ['missing\tb/two'], exitCode: 9 });
  });

  test('may have odd names', async ({ tree }) => {
    for (const name of ['esc\x1b[31m', 'new\nline', 't\tab']) await tree.write(`a/${name}`, 'x');
    await tree.write('a/SHA256SUMS', `\\${sha256('1')}  new\\nline\n${sha256('1')}  esc\x1b[31m\n`);
    const found = ['changed\ta/esc\\x1b[31m', 'changed\ta/new\\nline', 'unlisted\ta/t\\tab'];
    expect((await tree.verified('a')).lines).toEqual(found);
    const inJson = jsonOf((await tree.verify(['a', '--json'])).stdout);
    expect(inJson).toContainEqual({ v: 1, path: 'a/new\nline', result: 'changed' });
  });
});

describe('verify --json', () => {
  test('prints one object per file, with the filing if the path has it, and then the summary', async ({ tree }) => {
    const filing = `mirror/${ACCESSION}`;
    await tree.listed(filing, { one: '1', two: '2', [ACCESSION]: '3' }, ['one', ACCESSION]);
    for (const name of ['two', 'three']) await tree.write(`${filing}/${name}`, 'x');
    await appendFile(tree.at(`${filing}/SHA256SUMS`), `${sha256('x')}  ../up\n`);
    // The last accession number of a path counts.
    const digits = `mirror/0009999999-24-000009/${ACCESSION.replaceAll('-', '')}`;
    await tree.listed(digits, { five: '5' }, ['five']);
    await tree.listed('mirror/other', { [ACCESSION]: '4' }, [ACCESSION]);
    const { exitCode, lines } = await tree.verified('mirror', '--json');
    const of = (name: string, path = `${filing}/${name}`) => ({ v: 1, path, accession_no: ACCESSION, file_name: name });
    const counts = { files: 6, same: 0, changed: 1, missing: 5, unlisted: 1, damaged: 0, torn: 0, bytes: 1 };
    expect([exitCode, ...jsonOf(lines.join('\n'))]).toEqual([
      9,
      { v: 1, path: `${filing}/../up`, result: 'missing' },
      { ...of(ACCESSION), result: 'missing' },
      { ...of('one'), result: 'missing' },
      { ...of('three'), result: 'unlisted' },
      { ...of('two'), result: 'changed' },
      { ...of('five', `${digits}/five`), result: 'missing' },
      { v: 1, path: `mirror/other/${ACCESSION}`, result: 'missing' },
      { v: 1, summary: expect.objectContaining({ ...counts, exit_code: 9 }) },
    ]);
  });

  test.for`
    directories                    | hint
    ${['mirror dir']}              | ${"verify 'mirror dir' --json | filings download -i - -d 'mirror dir' --checksums"}
    ${[`mirror dir/${ACCESSION}`]} | ${`-d 'mirror dir/${ACCESSION}' --layout '{file_name}' --checksums`}
    ${['mirror dir', 'b']}         | ${undefined}
    ${['c']}                       | ${undefined}
    ${[`${ACCESSION}/files`]}      | ${undefined}
  `('is repaired by the pipeline of the hint: $directories', async ({ directories, hint }, { tree }) => {
    for (const directory of [`mirror dir/${ACCESSION}`, 'c', `${ACCESSION}/files`])
      await tree.listed(directory, { one: '1' }, ['one']);
    await tree.listed('b', { one: '1' });
    const { stderr } = await tree.verified(...directories);
    if (hint) expect(stderr).toContain(`${hint} --if-exists overwrite\n`);
    else expect(stderr).toContain('hint: get the missing and changed files again');
  });
});
