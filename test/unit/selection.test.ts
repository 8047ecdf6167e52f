import { describe, expect, test } from 'vitest';
import type { Item } from '../../src/batch/item.ts';
import { defaultLayout } from '../../src/batch/layout.ts';
import type { Start } from '../../src/batch/limits.ts';
import { Selection, type SelectionOptions } from '../../src/batch/selection.ts';
import { FilingsError } from '../../src/errors.ts';
import type { Line } from '../../src/input/lines.ts';
import { parseAccession } from '../../src/service/accession.ts';
import type { ListedFile } from '../../src/service/listing.ts';

const filing = (n: number) => parseAccession(`0001234567-24-${String(n).padStart(6, '0')}`);
const whole = (n: number): Line => ({ kind: 'entry', accession: filing(n) });
const file = (n: number, file: string): Line => ({ kind: 'entry', accession: filing(n), file });
const yieldToEventLoop = async (count = 20) => {
  for (let left = count; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
};

const free: Pick<SelectionOptions, 'decideStart'> = { decideStart: () => 'start' };

type Listings = Readonly<Record<number, readonly string[] | FilingsError>>;

/** Returns listings at once, except those in `slow`, which wait for `release`. */
function listingService(listings: Listings, slow: ReadonlySet<number> = new Set()) {
  const calls: number[] = [];
  const waiting = new Map<number, () => void>();
  const list = async (accession: string): Promise<readonly ListedFile[]> => {
    const n = Number(accession.slice(-6));
    calls.push(n);
    if (slow.has(n)) await new Promise<void>((resolve) => waiting.set(n, resolve));
    const found = listings[n] ?? [];
    if (found instanceof FilingsError) throw found;
    return found.map((name) => ({ accession_no: accession, file_name: name, size: name.length }));
  };
  return { calls, list, release: (n: number) => waiting.get(n)?.() };
}

function select(selected: readonly Line[], list: SelectionOptions['list'], more: Partial<SelectionOptions> = {}) {
  async function* batches() {
    for (let at = 0; at < selected.length; at += 3) yield selected.slice(at, at + 3);
    await yieldToEventLoop(1);
  }
  const common = { ...free, layout: defaultLayout(true, 'linux'), jobs: 4, isAlreadyDone: () => false, wake: () => {} };
  return new Selection(batches(), { ...common, list, isSelected: (name) => !name.startsWith('no'), ...more });
}

/** Returns a short text for an item, such as `1 a.htm`. */
function text(item: Item): string {
  if (item.kind === 'bad') return `bad ${item.number}: ${item.error.message}`;
  const n = Number(item.accession.slice(-6));
  if (item.kind === 'file') return `${n} ${item.fileName}${item.filing ? '' : ' named'}`;
  return 'fileName' in item ? `${n} ${item.fileName} ${item.kind}` : `${n} ${item.kind}`;
}

/** Collects all items that do not wait for a delayed listing. */
async function collect(selection: Selection): Promise<string[]> {
  const items: string[] = [];
  for (let idle = 0; idle < 5 && !selection.isEnded; idle += 1) {
    for (let item = selection.next(); item; item = selection.next()) items.push(text(item));
    await yieldToEventLoop();
  }
  return items;
}

describe('the items of a selection', () => {
  test('are the named files and the chosen files of each listing', async () => {
    const { list } = listingService({ 2: ['x', 'no', 'y'], 4: ['z'] });
    const selection = select([whole(2), file(3, 'b'), whole(4), file(5, 'c')], list, { jobs: 1 });
    expect((await collect(selection)).sort()).toEqual(['2 x', '2 y', '3 b named', '4 z', '5 c named'].sort());
    expect(selection.isEnded).toBe(true);
  });

  test('contain each filing and each file once, and mark repeated files', async () => {
    const { list, calls } = listingService({ 1: ['a', 'b'] });
    const items = await collect(select([file(1, 'a'), whole(1), file(1, 'a'), whole(1), file(1, 'c')], list));
    expect(items.sort()).toEqual(['1 a duplicate', '1 a duplicate', '1 a named', '1 b', '1 c named']);
    expect(calls).toEqual([1]);
  });

  test('include unmatched filings, failed listings and invalid lines, but no filing that is done', async () => {
    const error = new FilingsError('usage', 'what?');
    const { list, calls } = listingService({ 1: ['no'], 2: new FilingsError('auth', 'no'), 3: ['a'] });
    const lines: Line[] = [whole(1), whole(2), whole(3), { kind: 'bad', error, number: 9 }];
    const items = await collect(select(lines, list, { isAlreadyDone: (accession) => accession === filing(3) }));
    expect(items.sort()).toEqual(['1 unmatched', '2 unlisted', 'bad 9: what?']);
    expect(calls).toEqual([1, 2]);
    const unchosen = select([{ ...whole(1), number: 3 }], list, { isSelected: undefined });
    unchosen.next();
    await yieldToEventLoop();
    const stopping = {
      message: expect.stringMatching(/^line 3: .*no files selected/),
      stopsRun: true,
      hint: expect.stringContaining('--all'),
    };
    expect(unchosen.next()).toMatchObject({ kind: 'bad', number: 3, error: stopping });
  });

  test('come before the error that ends the input or a listing', async () => {
    const error = new FilingsError('local_io', 'cannot be read');
    async function* broken() {
      yield [file(1, 'a')];
      throw error;
    }
    const common = {
      ...free,
      layout: defaultLayout(true, 'linux'),
      jobs: 1,
      isAlreadyDone: () => false,
      wake: () => {},
    };
    const selection = new Selection(broken(), { ...common, list: listingService({}).list, isSelected: undefined });
    expect(await collect(selection)).toEqual(['1 a named']);
    expect([selection.isEnded, selection.error]).toEqual([true, error]);
    const defect = new TypeError('x');
    const failing = select([whole(1)], () => Promise.reject(defect));
    expect([await collect(failing), failing.isEnded, failing.error]).toEqual([[], true, defect]);
  });
});

describe('a selection', () => {
  test('does not delay ready items for a listing that is not ready', async () => {
    const { list, release } = listingService({ 0: ['z'], 1: ['a'], 2: ['b'] }, new Set([1]));
    const selection = select([whole(0), whole(1), whole(2), file(3, 'c')], list);
    const first = await collect(selection);
    release(1);
    expect(first.sort()).toEqual(['0 z', '2 b', '3 c named']);
    expect(await collect(selection)).toEqual(['1 a']);
  });

  test('runs at most one listing per job, and none while every job has a file', async () => {
    const many = Array.from({ length: 12 }, (_, n) => n);
    const { list, calls, release } = listingService({ 1: ['a', 'b', 'c', 'd', 'e'] }, new Set(many));
    const selection = select(many.map(whole), list, { jobs: 3 });
    expect([await collect(selection), calls]).toEqual([[], [0, 1, 2]]);
    release(0);
    await yieldToEventLoop();
    expect([text(selection.next() as Item), selection.next(), calls]).toEqual(['0 unmatched', undefined, [0, 1, 2, 3]]);
    release(1);
    release(2);
    await yieldToEventLoop();
    expect([text(selection.next() as Item), selection.next(), selection.next()].length).toBe(3);
    await yieldToEventLoop();
    // The count includes the files of one listing, two listings, the rest of the batch and the three lines that were
    // read ahead.
    expect([calls, selection.remaining]).toEqual([[0, 1, 2, 3], 2 + 1 + 1 + 2 + 3]);
  });

  test('counts the lines up to the end of the input, including those that are being read', async () => {
    const lines = [1, 2, 3, 4, 5, 6, 7].map((n) => file(n, 'a'));
    const selection = select([...lines, whole(8)], listingService({}).list);
    selection.next();
    await yieldToEventLoop();
    expect([1, 2, 3, 4].map(() => selection.next()?.kind)).toEqual(['file', 'file', 'file', undefined]);
    expect(await selection.cancel(new AbortController().signal)).toBe(5);
    expect(await select(lines, listingService({}).list).cancel(AbortSignal.abort())).toBeUndefined();
  });

  // The starts are the decisions about each listing, in the order of the requests. The last one applies to all further
  // listings. The file that a line names does not wait for the last listing, which begins late.
  test.each<[name: string, starts: Start[], items: string[], expectedCalls: number[]]>([
    ['all may start', ['start'], ['1 a', '2 b', '3 c', '9 n named'], [1, 2, 3]],
    ['all must wait', ['wait'], [], []],
    ['the second must wait', ['start', 'wait'], ['1 a'], [1]],
    ['only one at a time may start', ['alone'], ['1 a', '2 b', '9 n named', '3 c'], [1, 2, 3]],
    ['the second may not start', ['start', 'end'], ['1 a', '2 unlisted', '9 n named', '3 unlisted'], [1, 2, 3]],
  ])('requests listings as the limits allow: %s', async (_, starts, items, expectedCalls) => {
    const { list, calls } = listingService({ 1: ['a'], 2: ['b'], 3: ['c'] });
    let callCount = 0;
    const decideStart = () => starts[Math.min(callCount, starts.length - 1)] ?? 'end';
    const limited: SelectionOptions['list'] = (accession) => {
      const start = decideStart();
      callCount += 1;
      const listed = list(accession);
      return start === 'end' ? Promise.reject(new FilingsError('limit', 'reached')) : listed;
    };
    const selection = select([whole(1), whole(2), whole(3), file(9, 'n')], limited, { decideStart, jobs: 3 });
    expect([await collect(selection), calls]).toEqual([items, expectedCalls]);
  });

  test('returns waiting files before it requests another listing beyond a limit', async () => {
    const { list, calls } = listingService({ 1: ['a', 'b'], 2: ['c'] });
    const selection = select([whole(1), whole(2)], list, { decideStart: () => 'alone', jobs: 9 });
    // The first call reads the lines, and the second one requests the listing.
    for (let step = 0; step < 2; step += 1) {
      expect(selection.next()).toBeUndefined();
      await yieldToEventLoop();
    }
    expect([text(selection.next() as Item), text(selection.next() as Item), calls]).toEqual(['1 a', '1 b', [1]]);
    expect([selection.next(), calls]).toEqual([undefined, [1, 2]]);
  });

  test('skips a filing of the done list even beyond a limit, and reports it once', async () => {
    const skipped: string[] = [];
    const isAlreadyDone = (accession: string) => accession === filing(1) && skipped.push(accession) > 0;
    const { list } = listingService({});
    const selection = select([whole(1), whole(1), whole(2)], list, { decideStart: () => 'wait', isAlreadyDone });
    expect([await collect(selection), skipped, selection.remaining]).toEqual([[], [filing(1)], 1]);
  });

  test('knows the number of files once the input is read and every filing is listed', async () => {
    const { list, release } = listingService({ 1: ['aa', 'b'] }, new Set([1]));
    const selection = select([whole(1), file(2, 'n')], list);
    expect([await collect(selection), selection.files]).toEqual([['2 n named'], undefined]);
    release(1);
    await yieldToEventLoop();
    expect(selection.files).toBe(3);
    expect(selection.next()).toMatchObject({ filing: { accession: filing(1), files: 2, missing: 2 } });
  });

  test('knows how many files there are before it returns the last lines of the input', async () => {
    const lines = ['a', 'b', 'c'].map((name) => file(1, name));
    const selection = select(lines, listingService({}).list);
    const known: (number | undefined)[] = [];
    for (let item = selection.next(); known.length < 3; item = selection.next()) {
      await yieldToEventLoop();
      if (item) known.push(selection.files);
    }
    expect(known).toEqual([3, 3, 3]);
    const filings = select([file(1, 'a'), whole(2)], listingService({}, new Set([2])).list);
    filings.next();
    await yieldToEventLoop();
    expect([filings.next()?.kind, filings.files]).toEqual(['file', undefined]);
  });

  test('knows the bytes of all files with a listed size, each counted once, and the number of files without one', async () => {
    const { list } = listingService({ 1: ['aa', 'b', 'b'], 2: ['ccc'] });
    const selection = select([whole(1), whole(2)], list);
    for (let step = 1; step <= 2; step += 1) {
      expect(selection.next()).toBeUndefined();
      await yieldToEventLoop();
    }
    expect([selection.files, selection.sizes]).toEqual([4, { bytes: 7, unsized: 0 }]);
    await collect(selection);
    expect([selection.files, selection.sizes]).toEqual([3, { bytes: 6, unsized: 0 }]);
    const withNamed = select([whole(1), file(3, 'x'), file(3, 'x')], list);
    expect(withNamed.sizes).toBeUndefined();
    await collect(withNamed);
    expect([withNamed.files, withNamed.sizes]).toEqual([3, { bytes: 3, unsized: 1 }]);
    const unsized = select([whole(1)], async (accession) => [{ accession_no: accession, file_name: 'x' }]);
    await collect(unsized);
    expect([unsized.files, unsized.sizes]).toEqual([1, { bytes: 0, unsized: 1 }]);
  });

  test('checks for a cancellation after every thousand names', async () => {
    const names = Array.from({ length: 3000 }, (_, index) => `${index}`);
    let checkedNames = 0;
    const isSelected = () => {
      checkedNames += 1;
      if (checkedNames === 1) setImmediate(() => selection.cancel(AbortSignal.abort()));
      return true;
    };
    const selection = select([whole(1)], listingService({ 1: names }).list, { isSelected });
    expect(await collect(selection)).toEqual([]);
    expect([checkedNames, selection.error]).toEqual([999, undefined]);
  });

  test('has nothing left if only the end of the input is still being read', async () => {
    const selection = select([file(1, 'a')], listingService({}).list);
    expect(selection.next()).toBeUndefined();
    await yieldToEventLoop();
    expect([selection.next()?.kind, selection.next()]).toEqual(['file', undefined]);
    expect(await selection.cancel(new AbortController().signal)).toBe(0);
  });
});
