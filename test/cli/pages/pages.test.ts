import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blocksOf, pageText } from './blocks.ts';
import { CHECKS } from './checks.ts';
import { ENDS_WITH, NOT_RUN } from './exceptions.ts';
import { type Home, newHome } from './home.ts';

// What a page says is done as it is written, from its first block to its last, by one user in one home.

const docs = readdirSync(join(import.meta.dirname, '../../../docs'));
const PAGES = ['README.md', ...docs.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)];

/** The filings that the pages speak of, as the input that they name. */
const ACCESSIONS = '0001234567-24-000001\n0001234567-24-000002\n';

describe.each(PAGES)('%s', (page) => {
  const blocks = blocksOf(page);
  // The page says so itself.
  const env = pageText(page).includes('FILINGS_SANDBOX=1') ? { FILINGS_SANDBOX: '1' } : {};
  const toDo = blocks.filter(({ firstLine }) => NOT_RUN[page]?.[firstLine] === undefined);
  let home: Home;
  beforeAll(async () => {
    home = await newHome();
    await home.file('accessions.txt', ACCESSIONS);
  });
  afterAll(() => home.remove());

  test.each(toDo.map((block) => [block.line, block.firstLine, block] as const))('line %i: %s', async (_, __, block) => {
    const check = CHECKS[block.language];
    if (!check) throw new Error(`no check for a block of '${block.language}': see CHECKS`);
    await check(block, home, env);
  });

  test('no exception is left over', () => {
    const firstLines = blocks.map(({ firstLine }) => firstLine);
    for (const exceptions of [NOT_RUN, ENDS_WITH]) {
      for (const firstLine of Object.keys(exceptions[page] ?? {})) expect(firstLines).toContain(firstLine);
    }
  });
});

test('every exception is of a page', () => {
  for (const page of [...Object.keys(NOT_RUN), ...Object.keys(ENDS_WITH)]) expect(PAGES).toContain(page);
});
