import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { manPages } from '../../scripts/reference/files.ts';
import { COMMANDS } from '../../src/cli/catalogue.ts';
import { EXIT_CODE_ROWS } from '../../src/errors.ts';
import { commandNodes } from '../../src/help/program.ts';
import { SETTINGS, SHARED_OPTIONS } from '../../src/settings/table.ts';
import { named } from '../../src/spec/option.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = Object.entries(manPages(COMMANDS, { version: '1.2.3', date: '2026-01-31' }));
/** Escapes a text as a manual page does. */
const roff = (text: string) => text.replaceAll('-', '\\-').replaceAll("'", '\\(aq').replaceAll('~', '\\(ti');
const pageOf = (name: string) => PAGES.find(([path]) => path === `man/${name}`)?.[1] ?? '';

test('a manual page has all options and examples of its command and its subcommands', () => {
  for (const { path, spec } of commandNodes(COMMANDS)) {
    const page = pageOf(`filings-${path[0]}.1`);
    for (const { flag } of named(spec.options)) expect(page).toContain(roff(`--${flag}`));
    for (const [line] of spec.examples ?? []) expect(page, line).toContain(roff(line));
    for (const status of spec.exits ?? []) expect(page).toContain(`\\fB${status}\\fR`);
  }
});

test('no manual page repeats a caption', () => {
  for (const [path, text] of PAGES) {
    const captions = text.match(/^[A-Z].*:$/gm) ?? [];
    expect(new Set(captions).size, path).toBe(captions.length);
  }
});

test('filings(1) has what all commands share, and filings-config(5) has the keys of the file', () => {
  const [program, file] = [pageOf('filings.1'), pageOf('filings-config.5')];
  for (const { flag } of SHARED_OPTIONS) expect(program).toContain(roff(`--${flag}`));
  for (const [status] of EXIT_CODE_ROWS) expect(program).toContain(`\\fB${status} `.trimEnd());
  for (const { env, inFile, key } of SETTINGS) {
    if (env !== undefined) expect(program).toContain(`\\fB${env}\\fR`);
    if (inFile) expect(file).toContain(`\\fB${key}\\fR`);
  }
});

test('package.json and man/ list the same pages as the generator', async () => {
  const { man, files } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  expect([...man].sort()).toEqual(PAGES.map(([path]) => path).sort());
  expect(files).toContain('man');
  expect((await readdir(join(ROOT, 'man'))).map((name) => `man/${name}`).sort()).toEqual([...man].sort());
});
