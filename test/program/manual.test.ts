import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/catalogue.ts';
import { EXIT_CODE_ROWS } from '../../src/errors.ts';
import { placed } from '../../src/reference/describe.ts';
import { manPages } from '../../src/reference/man/pages.ts';
import { SETTINGS, SHARED_OPTIONS } from '../../src/settings/table.ts';
import { named } from '../../src/spec/option.ts';
import { workplace } from './run.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = Object.entries(manPages(COMMANDS, { version: '1.2.3', date: '2026-01-31' }));
const HEADINGS = [
  'NAME',
  'SYNOPSIS',
  'DESCRIPTION',
  'OPTIONS',
  'EXAMPLES',
  'EXIT STATUS',
  'ENVIRONMENT',
  'FILES',
  'SEE ALSO',
];
/** As a page writes a text. */
const roff = (text: string) => text.replaceAll('-', '\\-').replaceAll("'", '\\(aq').replaceAll('~', '\\(ti');
const pageOf = (name: string) => PAGES.find(([path]) => path === `man/${name}`)?.[1] ?? '';

const find = async (program: string) => (await execa('sh', ['-c', `command -v ${program}`], { reject: false })).stdout;
const mandoc = await find('mandoc');

describe.each(PAGES)('%s', (path, text) => {
  test.skipIf(mandoc === '')('mandoc has nothing to warn of', async () => {
    const { all, exitCode } = await execa(mandoc, ['-Tlint', '-Wwarning'], { input: text, all: true, reject: false });
    expect([exitCode, all]).toEqual([0, '']);
  });

  test('has its sections, none empty', () => {
    const headings = [...text.matchAll(/^\.SH "(.*)"$/gm)].map(([, heading]) => heading);
    const wanted = HEADINGS.filter((heading) => path.endsWith('.1') || !['OPTIONS', 'EXIT STATUS'].includes(heading));
    expect(headings.filter((heading) => heading !== 'COMMANDS')).toEqual(wanted);
    expect(text).not.toMatch(/^\.S[HS] .*\n(\.SH|$(?![\s\S]))/m);
  });

  test('names pages that are there', () => {
    const [, names = ''] = /^\.SH "SEE ALSO"\n([\s\S]*)$/m.exec(text) ?? [];
    const others = [...names.matchAll(/\\fB(\S+)\\fR\((\d)\)/g)].map(([, name = '', section]) =>
      name.startsWith('filings') ? `man/${name.replaceAll('\\-', '-')}.${section}` : undefined,
    );
    expect(others.length).toBeGreaterThan(1);
    for (const other of others) if (other !== undefined) expect(PAGES.map(([name]) => name)).toContain(other);
    expect(others).not.toContain(path);
  });
});

test('a page has all options and examples of its command and of those below it', () => {
  for (const { path, spec } of placed(COMMANDS)) {
    const page = pageOf(`filings-${path[0]}.1`);
    for (const { flag } of named(spec.options)) expect(page).toContain(roff(`--${flag}`));
    for (const [line] of spec.examples ?? []) expect(page, line).toContain(roff(line));
    for (const [status] of spec.exits ?? []) expect(page).toContain(`\\fB${status}\\fR`);
  }
});

test('filings(1) has what all commands share, filings-config(5) the keys of the file', () => {
  const [program, file] = [pageOf('filings.1'), pageOf('filings-config.5')];
  for (const { flag } of SHARED_OPTIONS) expect(program).toContain(roff(`--${flag}`));
  for (const [status] of EXIT_CODE_ROWS) expect(program).toContain(`\\fB${status} `.trimEnd());
  for (const { env, inFile, key } of SETTINGS) {
    if (env !== undefined) expect(program).toContain(`\\fB${env}\\fR`);
    if (inFile) expect(file).toContain(`\\fB${key}\\fR`);
  }
});

test('the settings that a command names are there', () => {
  for (const { spec } of placed(COMMANDS)) {
    for (const key of spec.settings ?? []) expect(SETTINGS.map((setting) => setting.key)).toContain(key);
  }
});

test('the package has them all', async () => {
  const { man, files } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  expect([...man].sort()).toEqual(PAGES.map(([path]) => path).sort());
  expect(files).toContain('man');
  expect((await readdir(join(ROOT, 'man'))).map((name) => `man/${name}`).sort()).toEqual([...man].sort());
});

describe('help --man', () => {
  /** A place whose PATH has nothing but what is given: the text of scripts, or programs to link to. */
  async function placeWith(programs: Readonly<Record<string, string>>) {
    const place = await workplace();
    const bin = join(place.home, 'bin');
    await mkdir(bin, { recursive: true });
    for (const [name, what] of Object.entries(programs)) {
      if (what.startsWith('/')) await symlink(what, join(bin, name));
      else await writeFile(join(bin, name), `#!/bin/sh\n${what}\n`, { mode: 0o755 });
    }
    return async (...words: string[]) => {
      const { stdout, ...ended } = await place.filings(['help', ...words], { PATH: bin });
      return { ...ended, stdout: stdout.toString() };
    };
  }

  test.each([
    [['--man'], 'filings.1'],
    [['--man', 'list'], 'filings-list.1'],
    [['list', '--man'], 'filings-list.1'],
    [['--man', 'token', 'sign'], 'filings-token.1'],
    [['--man', 'config'], 'filings-config.1'],
    [['--man', '1', 'config'], 'filings-config.1'],
    [['--man', '5', 'config'], 'filings-config.5'],
    [['--man', 'exit-codes'], 'filings.1'],
  ])('%j opens %s, as it is shipped', async (words, page) => {
    const help = await placeWith({ man: 'echo "shown: $*"' });
    expect(await help(...words)).toEqual({ exitCode: 0, stdout: `shown: ${join(ROOT, 'man', page)}\n`, stderr: '' });
  });

  test.each([
    [['--man', 'lst'], 'did you mean list?'],
    [['--man', '5', 'list'], 'did you mean list?'],
    [['--man', '../../etc/passwd'], 'see filings --help'],
  ])('%j: there is no such page', async (words, hint) => {
    const help = await placeWith({ man: 'echo "shown: $*"' });
    const { exitCode, stdout, stderr } = await help(...words);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^filings: help .*: no such command or topic\n/);
    expect(stderr).toContain(`hint: ${hint}`);
  });

  test('without man and mandoc it is what --help says', async () => {
    const help = await placeWith({});
    expect(await help('--man', 'list')).toEqual(await help('list'));
  });

  test.each([
    ['fails', 'echo rubbish; exit 3'],
    ['says nothing', 'exit 0'],
  ])('where man %s, another shows it', async (_, man) => {
    const help = await placeWith({ man, mandoc: 'echo "N\bNA\bAM\bME\bE _\bx"' });
    expect(await help('--man', 'list')).toEqual({ exitCode: 0, stdout: 'NAME x\n', stderr: '' });
  });

  test.skipIf(mandoc === '')('by mandoc it is plain text', async () => {
    const help = await placeWith({ mandoc });
    const { exitCode, stdout } = await help('--man', 'download');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^NAME\n +filings-download - download files of filings/m);
    expect(stdout).toContain('--relist-after DURATION');
    expect(stdout).not.toContain('\b');
  });
});
