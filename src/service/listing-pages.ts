// Reads all pages of a listing, never a part of them. Pages are not documented (service.md, section 8), so the program tries the usual
// parameters, and believes that a listing is complete only if nothing in any page says otherwise.
import { errorAbout, FilingsError, type Hint } from '../errors.ts';
import { counted, grouped } from '../text.ts';
import type { AccessionNumber } from './accession.ts';
import type { ListedFile, ListingDescription, Page } from './listing.ts';
import type { StatedTotal } from './listing-records.ts';

/** A parameter of a request's query. */
export type Parameter = readonly [name: string, value: string];

const MAX_PAGES = 10_000;
/** A list of so many records may be the first of several pages. */
const COMMON_PAGE_SIZES = new Set([10, 15, 20, 25, 30, 50, 100, 200, 250, 500, 1000]);

/** What a run has learned about the pages of its service. */
export interface PagingMemory {
  /** Whether the service counts pages from 0 or from 1. */
  firstPage?: number;
  hasWarned?: boolean;
}

export interface ListingReader {
  readonly accession: AccessionNumber;
  readonly pageSize: number | undefined;
  readonly description: ListingDescription | undefined;
  readonly memory: PagingMemory;
  /** Requests a response; without parameters the service decides how much it holds. */
  readonly ask: (query: readonly Parameter[]) => Promise<Page>;
  readonly warn: (text: string) => void;
}

/** All files of a filing. */
export interface Listing {
  readonly files: readonly ListedFile[];
  readonly isPrimaryOnly: boolean;
}

/** The pages of one listing, each of which is requested once. */
interface Source extends ListingReader {
  readonly size: number;
  readonly requested: Map<number, Page>;
}

/**
 * Returns all files of a filing. With a page size, requests one page after the other; without one, a response that is a
 * part is refused, and one that may be the first page is followed up. Throws `integrity` for a listing that stays a
 * part, and what `ask` throws.
 */
export async function readAllPages(reader: ListingReader): Promise<Listing> {
  const { accession, pageSize, description, ask } = reader;
  const pages = new Pages();
  if (pageSize !== undefined) return readPages({ ...reader, size: pageSize, requested: new Map() }, pages);
  const whole = await ask([]);
  pages.add(whole);
  const sign = pages.signOfMore();
  if (sign !== undefined) {
    throw incomplete(accession, `${counted(whole.records, 'record')} came, but ${sign}`, {
      hint: { advice: 'read-pages' },
    });
  }
  const isCertain = description?.total !== undefined || description?.more !== undefined;
  const size = isCertain ? undefined : commonPageSize(whole);
  if (size === undefined) return pages.listing;
  const source = { ...reader, size, requested: new Map() };
  return (await isAll(source, whole)) ? pages.listing : readPages(source, pages);
}

function commonPageSize({ listSizes }: Page): number | undefined {
  const sizes = listSizes.filter((size) => COMMON_PAGE_SIZES.has(size));
  return sizes.length === 0 ? undefined : sizes.reduce((largest, size) => Math.max(largest, size));
}

/** Whether a response that has as many records as a page often has is the whole listing. */
async function isAll(source: Source, whole: Page): Promise<boolean> {
  const second = await pageOrRefusal(source, 2, true);
  const first = await pageOrRefusal(source, 1, false);
  // A refusal of page 2 alone may be that of a page behind the last one.
  if (first === 'refused') return true;
  if (first?.key !== whole.key || isPart(first)) return false;
  if (second === 'refused' || second === undefined) return true;
  if (isPart(second)) return false;
  if (second.records === 0) return true;
  if (second.key !== whole.key) return false;
  const { memory, warn, size } = source;
  if (memory.hasWarned !== true) {
    warn(
      `page 1 and page 2 of a listing of ${size} records are the same: if a filing has more files, describe how the service names its pages with "listing" in the config file`,
    );
  }
  memory.hasWarned = true;
  return true;
}

function isPart({ more, pageCount, totals }: Page): boolean {
  return more !== undefined || pageCount > 1 || totals.some(({ total, records }) => total > records);
}

/** A page of a service that may not know these parameters, which it says by 400. */
async function pageOrRefusal(source: Source, number: number, isAfterRecords: boolean) {
  try {
    return await askPage(source, number, isAfterRecords);
  } catch (error) {
    if (error instanceof FilingsError && error.problem?.status === 400) return 'refused';
    throw error;
  }
}

/** Reads pages until one is empty, repeats an earlier one, or the total is reached. */
async function readPages(source: Source, pages: Pages): Promise<Listing> {
  const { accession } = source;
  const first = await firstPage(source);
  // An unnumbered response may hold other records than the pages: its files count, its records do not.
  pages.restart();
  for (let number = first; number < first + MAX_PAGES; number += 1) {
    const page = await askPage(source, number, pages.records > 0);
    const isEnd = page === undefined || page.records === 0 || pages.has(page);
    if (!isEnd) pages.add(page);
    // An empty page says itself whether more follow. Otherwise the last page with records does.
    else if (page?.records === 0) pages.addMarkers(page);
    if (!isEnd && !pages.isTotalReached(page)) continue;
    const sign = pages.signOfMore();
    if (sign === undefined) return pages.listing;
    throw incomplete(accession, `page ${number} ends it after ${counted(pages.records, 'record')}, but ${sign}`, {
      hint: 'the service may name page_size and page_number otherwise: describe them with "listing" in the config file',
    });
  }
  throw incomplete(accession, `over ${grouped(MAX_PAGES)} pages`);
}

/**
 * Finds out whether the service counts from 0, once per run. Page 0 is the first if it has records other than those of
 * page 1.
 */
async function firstPage(source: Source): Promise<number> {
  const { memory, description } = source;
  const known = description?.firstPage ?? memory.firstPage;
  if (known !== undefined) return known;
  const zero = await askPage(source, 0, false).catch((error) => {
    const { status = 0 } = (error instanceof FilingsError && error.problem) || {};
    // A refusal that may go away says nothing about the page.
    if (status < 400 || status > 499 || (error as FilingsError).retryable) throw error;
    return undefined;
  });
  const one = await askPage(source, 1, (zero?.records ?? 0) > 0);
  const isZero = zero !== undefined && zero.records > 0 && zero.key !== one?.key;
  // Two empty pages teach nothing.
  if (isZero || (one?.records ?? 0) > 0) memory.firstPage = isZero ? 0 : 1;
  return isZero ? 0 : 1;
}

/** Requests a page. Undefined: the service has no such page, which only a page behind one with records can be. */
async function askPage(
  { ask, description, size, requested }: Source,
  number: number,
  isAfterRecords: boolean,
): Promise<Page | undefined> {
  const known = requested.get(number);
  if (known !== undefined) return known;
  try {
    const page = await ask([
      [description?.pageSize ?? 'page_size', `${size}`],
      [description?.pageNumber ?? 'page_number', `${number}`],
    ]);
    // Later pages are not requested twice, and there may be thousands.
    if (number <= 2) requested.set(number, page);
    return page;
  } catch (error) {
    // A JSON error object has members of its own beside the status.
    const { status, ...members } = (error instanceof FilingsError && error.problem) || { status: 0 };
    if (isAfterRecords && status === 404 && Object.keys(members).length > 0) return undefined;
    throw error;
  }
}

/** The pages of one listing that have been read, and what they say about its size. */
class Pages {
  readonly #files = new Map<string, ListedFile>();
  #keys = new Set<string>();
  /** By the path of the object that states a total. */
  #totals = new Map<string, Omit<StatedTotal, 'path'>>();
  #records = 0;
  #more: string | undefined;
  #pageCount = 0;
  #isPrimaryOnly = true;

  get listing(): Listing {
    return { files: [...this.#files.values()], isPrimaryOnly: this.#files.size > 0 && this.#isPrimaryOnly };
  }

  /** The number of records on all pages. */
  get records(): number {
    return this.#records;
  }

  /** Begins to count anew, and keeps the files. */
  restart(): void {
    this.#keys = new Set();
    this.#totals = new Map();
    this.#records = 0;
    this.#pageCount = 0;
    this.#more = undefined;
  }

  has({ key }: Page): boolean {
    return this.#keys.has(key);
  }

  add(page: Page): void {
    this.#keys.add(page.key);
    this.#records += page.records;
    this.#isPrimaryOnly &&= page.isPrimaryOnly;
    for (const file of page.files) if (!this.#files.has(file.file_name)) this.#files.set(file.file_name, file);
    this.addMarkers(page);
  }

  /** Only the last page's sign of more counts; totals and page counts are about all pages. */
  addMarkers({ more, pageCount, totals }: Page): void {
    this.#more = more;
    this.#pageCount = Math.max(this.#pageCount, pageCount);
    for (const { path, total, records, isExact } of totals) {
      const before = this.#totals.get(path) ?? { total: 0, records: 0, isExact };
      const sum = { total: Math.max(before.total, total), records: before.records + records, isExact };
      this.#totals.set(path, sum);
    }
  }

  /** Whether one total is about all lists of a page, and is reached. */
  isTotalReached({ totals, records }: Page): boolean {
    return totals.some((stated) => stated.records === records) && this.signOfMore() === undefined;
  }

  /** Returns what says that more records follow than have been read, as the beginning of a sentence. */
  signOfMore(): string | undefined {
    if (this.#more !== undefined) return `'${this.#more}' says that there is more`;
    if (this.#pageCount > this.#keys.size)
      return `a count of ${grouped(this.#pageCount)} pages says that there is more`;
    const stated = [...this.#totals.values()];
    const wrong = stated.find(({ total, records, isExact }) => (isExact ? total !== records : total > records));
    return wrong && `a total of ${grouped(wrong.total)} says otherwise`;
  }
}

function incomplete(accession: AccessionNumber, why: string, details?: { readonly hint: Hint }): FilingsError {
  return errorAbout({ accession }, 'integrity', `incomplete: ${why}`, details);
}
