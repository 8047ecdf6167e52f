import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { blocksOf, testPage, unusedExceptions } from './page.ts';

// The two longest pages have test files of their own, so that several workers share the pages.
const APART = ['README.md', 'docs/using.md'];

const docs = readdirSync(join(import.meta.dirname, '../../../docs')).filter((name) => name.endsWith('.md'));
const PAGES = ['README.md', ...docs.map((name) => `docs/${name}`)];

describe.each(PAGES.filter((page) => !APART.includes(page) && blocksOf(page).length > 0))('%s', (page) =>
  testPage(page),
);

test('every exception has a block on a page', () => {
  expect(unusedExceptions(PAGES)).toEqual([]);
});
