import { afterAll, beforeAll, expect, test } from 'vitest';
import { blocksOf } from './blocks.ts';
import { CHECKS } from './checks.ts';
import { ENDS_WITH, NOT_RUN } from './exceptions.ts';
import { type Home, newHome } from './home.ts';

/** The filings that the pages speak of, as the input that they name. */
const ACCESSIONS = '0001234567-24-000001\n0001234567-24-000002\n';

/** What a page says is done as it is written, from its first block to its last, by one user in one home. */
export function testPage(page: string): void {
  const blocks = blocksOf(page);
  const toDo = blocks.filter(({ firstLine }) => NOT_RUN[page]?.[firstLine] === undefined);
  let home: Home;
  beforeAll(async () => {
    home = await newHome();
    await home.file('accessions.txt', ACCESSIONS);
    await home.file('.filings-key', home.key);
  });
  afterAll(() => home.remove());

  test.each(toDo.map((block) => [block.line, block.firstLine, block] as const))('line %i: %s', async (_, __, block) => {
    const check = CHECKS[block.language];
    if (!check) throw new Error(`no check for a block of '${block.language}': see CHECKS`);
    await check(block, home);
  });

  test('no exception is left over', () => {
    const firstLines = blocks.map(({ firstLine }) => firstLine);
    for (const exceptions of [NOT_RUN, ENDS_WITH]) {
      for (const firstLine of Object.keys(exceptions[page] ?? {})) expect(firstLines).toContain(firstLine);
    }
  });
}
