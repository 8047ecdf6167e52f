import { describe, expect, test } from 'vitest';
import type { Line } from '../../src/batch/input.ts';
import type { Item } from '../../src/batch/item.ts';
import { defaultLayout } from '../../src/batch/layout.ts';
import type { Start } from '../../src/batch/limits.ts';
import { Selection, type SelectionOptions } from '../../src/batch/selection.ts';
import { FilingsError } from '../../src/errors.ts';
import { parseAccession } from '../../src/service/accession.ts';
import type { ListedFile } from '../../src/service/listing.ts';

const filing = (n: number) => parseAccession(`0001234567-24-${String(n).padStart(6, '0')}`);
const alone = (n: number): Line => ({ kind: 'entry', accession: filing(n) });
const named = (n: number, file: string): Line => ({ kind: 'entry', accession: filing(n), file });
const turns = async (count = 20) => {
  for (let left = count; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
};

const free: Pick<SelectionOptions, 'mayStart'> = { mayStart: () => 'start' };

type Listings = Readonly<Record<number, readonly string[] | FilingsError>>;

/** Answers listings at once, but those that are held until they are let go. */
function desk(listings: Listings, held: ReadonlySet<number> = new Set()) {
  const asked: number[] = [];
  const waiting = new Map<number, () => void>();
  const list = async (accession: string): Promise<readonly ListedFile[]> => {
    const n = Number(accession.slice(-6));
    asked.push(n);
    if (held.has(n)) await new Promise<void>((resolve) => waiting.set(n, resolve));
    const found = listings[n] ?? [];
    if (found instanceof FilingsError) throw found;
    return found.map((name) => ({ accession_no: accession, file_name: name, size: name.length }));
  };
  return { asked, list, letGo: (n: number) => waiting.get(n)?.() };
}

function select(selected: readonly Line[], list: SelectionOptions['list'], more: Partial<SelectionOptions> = {}) {
  async function* batches() {
    for (let at = 0; at < selected.length; at += 3) yield selected.slice(at, at + 3);
    await turns(1);
  }
  const common = { ...free, layout: defaultLayout(true), jobs: 4, passesOver: () => false, wake: () => {} };
  return new Selection(batches(), { ...common, list, chosen: (name) => !name.startsWith('no'), ...more });
}

/** What an item says, shortly: `1 a.htm`. */
function told(item: Item): string {
  if (item.kind === 'bad') return `bad ${item.number}: ${item.error.message}`;
  const n = Number(item.accession.slice(-6));
  if (item.kind === 'file') return `${n} ${item.fileName}${item.filing ? '' : ' named'}`;
  return 'fileName' in item ? `${n} ${item.fileName} ${item.kind}` : `${n} ${item.kind}`;
}

/** All that comes without waiting for what is held. */
async function all(selection: Selection): Promise<string[]> {
  const items: string[] = [];
  for (let idle = 0; idle < 5 && !selection.isEnded; idle += 1) {
    for (let item = selection.next(); item; item = selection.next()) items.push(told(item));
    await turns();
  }
  return items;
}

describe('what comes out', () => {
  test('named files, and those chosen from listings, in the order of the input', async () => {
    const { list } = desk({ 2: ['x', 'no', 'y'], 4: ['z'] });
    const selection = select([alone(2), named(3, 'b'), alone(4), named(5, 'c')], list, { jobs: 1 });
    expect((await all(selection)).sort()).toEqual(['2 x', '2 y', '3 b named', '4 z', '5 c named'].sort());
    expect(selection.isEnded).toBe(true);
  });

  test('a filing named twice is listed once, a file named twice comes once', async () => {
    const { list, asked } = desk({ 1: ['a', 'b'] });
    const items = await all(select([named(1, 'a'), alone(1), named(1, 'a'), alone(1), named(1, 'c')], list));
    expect(items.sort()).toEqual(['1 a again', '1 a again', '1 a named', '1 b', '1 c named']);
    expect(asked).toEqual([1]);
  });

  test('no match, a listing that fails, one that is done, bad lines', async () => {
    const error = new FilingsError('usage', 'what?');
    const { list, asked } = desk({ 1: ['no'], 2: new FilingsError('auth', 'no'), 3: ['a'] });
    const lines: Line[] = [alone(1), alone(2), alone(3), { kind: 'bad', error, number: 9 }];
    const items = await all(select(lines, list, { passesOver: (accession) => accession === filing(3) }));
    expect(items.sort()).toEqual(['1 unmatched', '2 unlisted', 'bad 9: what?']);
    expect(asked).toEqual([1, 2]);
    const unchosen = select([{ ...alone(1), number: 3 }], list, { chosen: undefined });
    unchosen.next();
    await turns();
    const stopping = {
      message: expect.stringMatching(/^line 3: .*no files selected/),
      stopsRun: true,
      hint: expect.stringContaining('--all'),
    };
    expect(unchosen.next()).toMatchObject({ kind: 'bad', number: 3, error: stopping });
  });

  test('behind all that came before it, what the input ends with', async () => {
    const error = new FilingsError('local_io', 'cannot be read');
    async function* broken() {
      yield [named(1, 'a')];
      throw error;
    }
    const common = { ...free, layout: defaultLayout(true), jobs: 1, passesOver: () => false, wake: () => {} };
    const selection = new Selection(broken(), { ...common, list: desk({}).list, chosen: undefined });
    expect(await all(selection)).toEqual(['1 a named']);
    expect([selection.isEnded, selection.error]).toEqual([true, error]);
    const defect = new TypeError('x');
    const failing = select([alone(1)], () => Promise.reject(defect));
    expect([await all(failing), failing.isEnded, failing.error]).toEqual([[], true, defect]);
  });
});

describe('how far it goes ahead', () => {
  test('what is ready does not wait for a listing that is not', async () => {
    const { list, letGo } = desk({ 0: ['z'], 1: ['a'], 2: ['b'] }, new Set([1]));
    const selection = select([alone(0), alone(1), alone(2), named(3, 'c')], list);
    const first = await all(selection);
    letGo(1);
    expect(first.sort()).toEqual(['0 z', '2 b', '3 c named']);
    expect(await all(selection)).toEqual(['1 a']);
  });

  test('no more listings at once than jobs, and none while files enough for every job wait', async () => {
    const many = Array.from({ length: 12 }, (_, n) => n);
    const { list, asked, letGo } = desk({ 1: ['a', 'b', 'c', 'd', 'e'] }, new Set(many));
    const selection = select(many.map(alone), list, { jobs: 3 });
    expect([await all(selection), asked]).toEqual([[], [0, 1, 2]]);
    letGo(0);
    await turns();
    expect([told(selection.next() as Item), selection.next(), asked]).toEqual(['0 unmatched', undefined, [0, 1, 2, 3]]);
    letGo(1);
    letGo(2);
    await turns();
    expect([told(selection.next() as Item), selection.next(), selection.next()].length).toBe(3);
    await turns();
    // Files of a listing, two listings, the rest of the lines that are taken, and the three lines that are read ahead.
    expect([asked, selection.left]).toEqual([[0, 1, 2, 3], 2 + 1 + 1 + 2 + 3]);
  });

  test('what is left is counted to the end of the input, what is being read just then, too', async () => {
    const lines = [1, 2, 3, 4, 5, 6, 7].map((n) => named(n, 'a'));
    const selection = select([...lines, alone(8)], desk({}).list);
    selection.next();
    await turns();
    expect([1, 2, 3, 4].map(() => selection.next()?.kind)).toEqual(['file', 'file', 'file', undefined]);
    expect(await selection.cancel(new AbortController().signal)).toBe(5);
    expect(await select(lines, desk({}).list).cancel(AbortSignal.abort())).toBeUndefined();
  });

  // What was decided about each listing, in the order of asking; the last one holds for all others.
  // A file that a line names does not wait for the last listing, which begins late.
  test.each<[name: string, starts: Start[], items: string[], asked: number[]]>([
    ['may start', ['start'], ['1 a', '2 b', '3 c', '9 n named'], [1, 2, 3]],
    ['must wait', ['wait'], [], []],
    ['must wait behind another one', ['start', 'wait'], ['1 a'], [1]],
    ['may start only alone', ['alone'], ['1 a', '2 b', '9 n named', '3 c'], [1, 2, 3]],
    ['may not start any more', ['start', 'end'], ['1 a', '2 unlisted', '9 n named', '3 unlisted'], [1, 2, 3]],
  ])('a listing that %s', async (_, starts, items, asked) => {
    const { list, asked: all1 } = desk({ 1: ['a'], 2: ['b'], 3: ['c'] });
    let asking = 0;
    const mayStart = () => starts[Math.min(asking, starts.length - 1)] ?? 'end';
    const limited: SelectionOptions['list'] = (accession) => {
      const start = mayStart();
      asking += 1;
      const listed = list(accession);
      return start === 'end' ? Promise.reject(new FilingsError('limit', 'reached')) : listed;
    };
    const selection = select([alone(1), alone(2), alone(3), named(9, 'n')], limited, { mayStart, jobs: 3 });
    expect([await all(selection), all1]).toEqual([items, asked]);
  });

  test('beyond a limit, what waits goes before another listing', async () => {
    const { list, asked } = desk({ 1: ['a', 'b'], 2: ['c'] });
    const selection = select([alone(1), alone(2)], list, { mayStart: () => 'alone', jobs: 9 });
    // The first call reads the lines, the second one asks.
    for (let calls = 0; calls < 2; calls += 1) {
      expect(selection.next()).toBeUndefined();
      await turns();
    }
    expect([told(selection.next() as Item), told(selection.next() as Item), asked]).toEqual(['1 a', '1 b', [1]]);
    expect([selection.next(), asked]).toEqual([undefined, [1, 2]]);
  });

  test('a filing of the done list is passed over beyond a limit, and once', async () => {
    const passed: string[] = [];
    const passesOver = (accession: string) => accession === filing(1) && passed.push(accession) > 0;
    const { list } = desk({});
    const selection = select([alone(1), alone(1), alone(2)], list, { mayStart: () => 'wait', passesOver });
    expect([await all(selection), passed, selection.left]).toEqual([[], [filing(1)], 1]);
  });

  test('all is known once all is read and listed', async () => {
    const { list, letGo } = desk({ 1: ['aa', 'b'] }, new Set([1]));
    const selection = select([alone(1), named(2, 'n')], list);
    expect([await all(selection), selection.files]).toEqual([['2 n named'], undefined]);
    letGo(1);
    await turns();
    expect(selection.files).toBe(3);
    expect(selection.next()).toMatchObject({ filing: { accession: filing(1), files: 2, missing: 2 } });
  });

  test('knows how many files there are before it hands out the last lines of the input', async () => {
    const lines = ['a', 'b', 'c'].map((name) => named(1, name));
    const selection = select(lines, desk({}).list);
    const known: (number | undefined)[] = [];
    for (let item = selection.next(); known.length < 3; item = selection.next()) {
      await turns();
      if (item) known.push(selection.files);
    }
    expect(known).toEqual([3, 3, 3]);
    const filings = select([named(1, 'a'), alone(2)], desk({}, new Set([2])).list);
    filings.next();
    await turns();
    expect([filings.next()?.kind, filings.files]).toEqual(['file', undefined]);
  });

  test('knows the bytes of all files that have a listed size, each file counted once, and how many have none', async () => {
    const { list } = desk({ 1: ['aa', 'b', 'b'], 2: ['ccc'] });
    const selection = select([alone(1), alone(2)], list);
    for (let step = 1; step <= 2; step += 1) {
      expect(selection.next()).toBeUndefined();
      await turns();
    }
    expect([selection.files, selection.sizes]).toEqual([4, { bytes: 7, unsized: 0 }]);
    await all(selection);
    expect([selection.files, selection.sizes]).toEqual([3, { bytes: 6, unsized: 0 }]);
    const withNamed = select([alone(1), named(3, 'x'), named(3, 'x')], list);
    expect(withNamed.sizes).toBeUndefined();
    await all(withNamed);
    expect([withNamed.files, withNamed.sizes]).toEqual([3, { bytes: 3, unsized: 1 }]);
    const unsized = select([alone(1)], async (accession) => [{ accession_no: accession, file_name: 'x' }]);
    await all(unsized);
    expect([unsized.files, unsized.sizes]).toEqual([1, { bytes: 0, unsized: 1 }]);
  });

  test('choosing among many names stops every thousand of them to see whether it is called off', async () => {
    const names = Array.from({ length: 3000 }, (_, index) => `${index}`);
    let seen = 0;
    const chosen = () => {
      seen += 1;
      if (seen === 1) setImmediate(() => selection.cancel(AbortSignal.abort()));
      return true;
    };
    const selection = select([alone(1)], desk({ 1: names }).list, { chosen });
    expect(await all(selection)).toEqual([]);
    expect([seen, selection.error]).toEqual([999, undefined]);
  });

  test('nothing is left where the end of the input is being read, all else being taken', async () => {
    const selection = select([named(1, 'a')], desk({}).list);
    expect(selection.next()).toBeUndefined();
    await turns();
    expect([selection.next()?.kind, selection.next()]).toEqual(['file', undefined]);
    expect(await selection.cancel(new AbortController().signal)).toBe(0);
  });
});
