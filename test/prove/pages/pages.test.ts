import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { blocksOf, testPage, unusedExceptions } from './page.ts';

const docs = readdirSync(join(import.meta.dirname, '../../../docs')).filter((name) => name.endsWith('.md'));
const PAGES = ['README.md', ...docs.map((name) => `docs/${name}`)];

describe.each(PAGES.filter((page) => blocksOf(page).length > 0))('%s', (page) => testPage(page));

// The page says that all examples work in the sandbox, except those that name a service.
describe('docs/using.md with FILINGS_SANDBOX=1', () =>
  testPage('docs/using.md', { FILINGS_SANDBOX: '1' }, ({ text }) => !/base-url/.test(text)));

test('every exception has a block on a page', () => {
  expect(unusedExceptions(PAGES)).toEqual([]);
});
