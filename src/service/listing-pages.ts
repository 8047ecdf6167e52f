// Reads all pages of a listing, never a part of them. Pages are not documented (service.md, section 8), so the program
// tries the usual parameters. A listing counts as complete only if no page says otherwise.
import { errorAbout, FilingsError, type Hint } from '../errors.ts';
import { counted, grouped } from '../text.ts';
import type { AccessionNumber } from './accession.ts';
import type { ListedFile, ListingDescription, Page } from './listing.ts';
import type { StatedTotal } from './listing-records.ts';

/** A parameter of a request's query. */
export type Parameter = readonly [name: string, value: string];

const MAX_PAGES = 10_000;
/** A list with one of these numbers of records may be the first of several pages. */
const COMMON_PAGE_SIZES = new Set([10, 15, 20, 25, 30, 50, 100, 200, 250, 500, 1000]);

/** The facts that a run has learned about the pages of its service. */
export interface PagingMemory {
  /** The number of the first page: 0 or 1. */
  firstPage?: number;
  hasWarned?: boolean;
}

/** The listing that is read, and the means to read it. */
interface ListingReader {
  readonly accession: AccessionNumber;
  /** The number of records of a page that the user wants, if any. */
  readonly pageSize: number | undefined;
  readonly description: ListingDescription | undefined;
  readonly memory: PagingMemory;
  /** Requests a page. Without parameters the service decides on its size. */
  readonly requestPage: (query: readonly Parameter[]) => Promise<Page>;
  readonly warn: (text: string) => void;
}

/** The names and records of all files of a filing. */
export interface Listing {
  readonly files: readonly ListedFile[];
  /** Whether the only names are those of primary documents, so that the filing may have more files. */
  readonly isPrimaryOnly: boolean;
}

/** A listing in pages of one size. */
interface PagedListing extends ListingReader {
  readonly size: number;
  /** The first pages by their numbers, so that each is requested once. */
  readonly cache: Map<number, Page>;
}

/**
 * Returns all files of a filing. With a page size, requests one page after the other. Without a page size, rejects a
 * response that is a part, and requests more pages if the response may be the first of several. Throws `integrity` for
 * a listing that is not complete, and the errors of `requestPage`.
 */
export async function readAllPages(reader: ListingReader): Promise<Listing> {
  const { accession, pageSize, description, requestPage } = reader;
  const pages = new Pages();
  if (pageSize !== undefined) return readPages({ ...reader, size: pageSize, cache: new Map() }, pages);
  const response = await requestPage([]);
  pages.add(response);
  const sign = pages.signOfMore();
  if (sign !== undefined) {
    throw incompleteError(accession, `${counted(response.records, 'record')} came, but ${sign}`, {
      hint: { advice: 'read-pages' },
    });
  }
  const isCertain = description?.total !== undefined || description?.more !== undefined;
  const size = isCertain ? undefined : commonPageSize(response);
  if (size === undefined) return pages.listing;
  const paged = { ...reader, size, cache: new Map() };
  return (await isWholeListing(paged, response)) ? pages.listing : readPages(paged, pages);
}

/** Returns the number of records in the largest list whose length is a common page size, or undefined. */
function commonPageSize({ listSizes }: Page): number | undefined {
  const sizes = listSizes.filter((size) => COMMON_PAGE_SIZES.has(size));
  return sizes.length === 0 ? undefined : sizes.reduce((largest, size) => Math.max(largest, size));
}

/**
 * Returns whether a response to a request without parameters is the whole listing, although its length is a common page
 * size.
 */
async function isWholeListing(paged: PagedListing, response: Page): Promise<boolean> {
  const second = await pageOrRejection(paged, 2, true);
  const first = await pageOrRejection(paged, 1, false);
  // Only a rejected page 1 shows that the service does not know the parameters. Page 2 may just not exist.
  if (first === 'rejected') return true;
  if (first?.key !== response.key || isPart(first)) return false;
  if (second === 'rejected' || second === undefined) return true;
  if (isPart(second)) return false;
  if (second.records === 0) return true;
  if (second.key !== response.key) return false;
  const { memory, warn, size } = paged;
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

/** Returns a page, or `rejected` for a 400 of a service that may not know the parameters. */
async function pageOrRejection(paged: PagedListing, number: number, isAfterRecords: boolean) {
  try {
    return await readPage(paged, number, isAfterRecords);
  } catch (error) {
    if (error instanceof FilingsError && error.problem?.status === 400) return 'rejected';
    throw error;
  }
}

/** Reads pages until one is empty, repeats an earlier one, or the total is reached. */
async function readPages(paged: PagedListing, pages: Pages): Promise<Listing> {
  const { accession } = paged;
  const first = await findFirstPage(paged);
  // The response without parameters may have other records than the pages. Its files count, but not its records.
  pages.resetCounts();
  for (let number = first; number < first + MAX_PAGES; number += 1) {
    const page = await readPage(paged, number, pages.records > 0);
    const isEnd = page === undefined || page.records === 0 || pages.has(page);
    if (!isEnd) pages.add(page);
    // The markers of an empty page count instead of those of the last page with records.
    else if (page?.records === 0) pages.addMarkers(page);
    if (!isEnd && !pages.isTotalReached(page)) continue;
    const sign = pages.signOfMore();
    if (sign === undefined) return pages.listing;
    throw incompleteError(accession, `page ${number} ends it after ${counted(pages.records, 'record')}, but ${sign}`, {
      hint: 'the service may name page_size and page_number otherwise: describe them with "listing" in the config file',
    });
  }
  throw incompleteError(accession, `over ${grouped(MAX_PAGES)} pages`);
}

/**
 * Returns the number of the first page, 0 or 1, which is found out once per run. Page 0 is the first if it has other
 * records than page 1.
 */
async function findFirstPage(paged: PagedListing): Promise<number> {
  const { memory, description } = paged;
  const known = description?.firstPage ?? memory.firstPage;
  if (known !== undefined) return known;
  const zero = await readPage(paged, 0, false).catch((error) => {
    const { status = 0 } = (error instanceof FilingsError && error.problem) || {};
    // A temporary error says nothing about the page.
    if (status < 400 || status > 499 || (error as FilingsError).retryable) throw error;
    return undefined;
  });
  const one = await readPage(paged, 1, (zero?.records ?? 0) > 0);
  const isZero = zero !== undefined && zero.records > 0 && zero.key !== one?.key;
  // Two empty pages do not show where the service begins to count.
  if (isZero || (one?.records ?? 0) > 0) memory.firstPage = isZero ? 0 : 1;
  return isZero ? 0 : 1;
}

/**
 * Returns a page, or undefined for a 404 directly after a page with records, which means that the service has no such
 * page.
 */
async function readPage(
  { requestPage, description, size, cache }: PagedListing,
  number: number,
  isAfterRecords: boolean,
): Promise<Page | undefined> {
  const known = cache.get(number);
  if (known !== undefined) return known;
  try {
    const page = await requestPage([
      [description?.pageSize ?? 'page_size', `${size}`],
      [description?.pageNumber ?? 'page_number', `${number}`],
    ]);
    // Later pages are read once, and there may be thousands.
    if (number <= 2) cache.set(number, page);
    return page;
  } catch (error) {
    // Only a JSON error object gives the problem members beside the status.
    const { status, ...members } = (error instanceof FilingsError && error.problem) || { status: 0 };
    if (isAfterRecords && status === 404 && Object.keys(members).length > 0) return undefined;
    throw error;
  }
}

/** Collects the pages of one listing, and their statements about its size. */
class Pages {
  readonly #files = new Map<string, ListedFile>();
  #keys = new Set<string>();
  /** The totals by the path of the object that states them. */
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

  /** Resets all counts and markers, and keeps the files. */
  resetCounts(): void {
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

  /**
   * Adds the markers of a page. A sign of more counts only on the last page. Totals and page counts are about all
   * pages.
   */
  addMarkers({ more, pageCount, totals }: Page): void {
    this.#more = more;
    this.#pageCount = Math.max(this.#pageCount, pageCount);
    for (const { path, total, records, isExact } of totals) {
      const earlier = this.#totals.get(path) ?? { total: 0, records: 0 };
      const sum = { total: Math.max(earlier.total, total), records: earlier.records + records, isExact };
      this.#totals.set(path, sum);
    }
  }

  /** Returns whether a total about all lists of the page is reached, and nothing says that more records follow. */
  isTotalReached({ totals, records }: Page): boolean {
    return totals.some((each) => each.records === records) && this.signOfMore() === undefined;
  }

  /** Returns a reason why more records may follow, as the end of a sentence, or undefined. */
  signOfMore(): string | undefined {
    if (this.#more !== undefined) return `'${this.#more}' says that there is more`;
    if (this.#pageCount > this.#keys.size)
      return `a count of ${grouped(this.#pageCount)} pages says that there is more`;
    const totals = [...this.#totals.values()];
    const other = totals.find(({ total, records, isExact }) => (isExact ? total !== records : total > records));
    return other && `a total of ${grouped(other.total)} says otherwise`;
  }
}

function incompleteError(accession: AccessionNumber, reason: string, details?: { readonly hint: Hint }): FilingsError {
  return errorAbout({ accession }, 'integrity', `incomplete: ${reason}`, details);
}
