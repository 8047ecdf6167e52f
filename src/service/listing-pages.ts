import { errorAbout, FilingsError } from '../errors.ts';
import { counted, grouped } from '../text.ts';
import type { AccessionNumber } from './accession.ts';
import type { ListedFile, Page } from './listing.ts';

/** A parameter of a request's query. */
export type Parameter = readonly [name: string, value: string];

const MOST_PAGES = 10_000;
/** A listing of so many records may be the first of several pages of that size. */
const COMMON_PAGE_SIZES = new Set([10, 20, 25, 50, 100, 200, 250, 500, 1000]);

/** Asks for an answer; without a page number the service decides how much it holds. */
export type Ask = (query: readonly Parameter[], number?: number) => Promise<Page>;

/**
 * All files of a filing, never a part of them. With a page size it asks for one page after the other; without one, an
 * answer that says it is a part is refused, and one that may be the first page is followed up.
 * Throws `integrity` for what stays a part, and what `ask` throws.
 */
export async function readAllPages(
  ask: Ask,
  pageSize: number | undefined,
  accession: AccessionNumber,
): Promise<readonly ListedFile[]> {
  if (pageSize !== undefined) return readPages(ask, pageSize, accession);
  const whole = await ask([]);
  const { records, files } = whole;
  const sign = signOfMore(whole, whole.total, records);
  if (sign !== undefined) {
    throw incomplete(accession, `${counted(records, 'record')} came, and ${sign} says that there is more`, {
      hint: 'read all its pages: --page-size 100',
    });
  }
  if (!COMMON_PAGE_SIZES.has(records)) return files;
  const second = await askPage(ask, records, 2);
  if (second === undefined || second.records === 0 || second.key === whole.key) return files;
  // All of them, since the one that came without being numbered may be another than page 1.
  return readPages(ask, records, accession, { files, second });
}

async function readPages(
  ask: Ask,
  size: number,
  accession: AccessionNumber,
  known?: { readonly files: readonly ListedFile[]; readonly second: Page },
): Promise<readonly ListedFile[]> {
  const files = new Map(known?.files.map((file) => [file.file_name, file]));
  const keys = new Set<string>();
  let [records, last, total] = [0, 0, 0];
  for (let number = 1; number <= MOST_PAGES; number += 1) {
    const page = number === 2 && known ? known.second : await askPage(ask, size, number);
    total = Math.max(total, page?.total ?? 0);
    const isEnd = page === undefined || page.records === 0 || keys.has(page.key);
    if (!isEnd) {
      keys.add(page.key);
      records += page.records;
      for (const file of page.files) files.set(file.file_name, file);
    }
    if (isEnd || page.records < last) {
      const sign = signOfMore(page?.records ? page : undefined, total, records);
      if (sign === undefined) return [...files.values()];
      throw incomplete(accession, `page ${number} ends it, and ${sign} says that there is more`, {
        hint: 'the service may name page_size and page_number otherwise: set its own with --query',
      });
    }
    last = page.records;
  }
  throw incomplete(accession, `over ${grouped(MOST_PAGES)} pages`);
}

/** Undefined: the service has no such page. */
async function askPage(ask: Ask, size: number, number: number): Promise<Page | undefined> {
  const query: Parameter[] = [
    ['page_size', `${size}`],
    ['page_number', `${number}`],
  ];
  try {
    return await ask(query, number);
  } catch (error) {
    if (number > 1 && error instanceof FilingsError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** What says that there are more records than those that came. */
function signOfMore(page: Page | undefined, total: number, records: number): string | undefined {
  return page?.more ?? (total > records ? `a total of ${grouped(total)}` : undefined);
}

function incomplete(accession: AccessionNumber, why: string, details?: { readonly hint: string }): FilingsError {
  return errorAbout({ accession }, 'integrity', `incomplete: ${why}`, details);
}
