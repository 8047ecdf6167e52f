import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { type AccessionNumber, parseAccession } from '../../src/service/accession.ts';
import { type ListedFile, listedSize } from '../../src/service/listing/listing.ts';
import type { Expanded } from '../../src/transfer/selection/expanded.ts';
import { Expansion, type ExpansionOptions, type Selected } from '../../src/transfer/selection/expansion.ts';
import { FilingTracker } from '../../src/transfer/selection/filing-tracker.ts';
import { defaultLayout } from '../../src/transfer/selection/layout.ts';

const filing = (n: number) => parseAccession(`0001234567-24-${String(n).padStart(6, '0')}`);
const alone = (n: number): Selected => ({ kind: 'entry', accession: filing(n) });
const named = (n: number, file: string): Selected => ({ kind: 'entry', accession: filing(n), file });
const listed = (accession: AccessionNumber, name: string): ListedFile => ({ accession_no: accession, file_name: name });
const turns = (count = 30) =>
  new Promise<void>((resolve) => setImmediate(() => (count > 0 ? resolve(turns(count - 1)) : resolve())));

async function* lines(selected: Iterable<Selected>): AsyncGenerator<Selected> {
  yield* selected;
}

type Listings = Readonly<Record<number, readonly string[] | FilingsError>>;

const options = (listings: Listings, more: Partial<ExpansionOptions> = {}): ExpansionOptions => ({
  list: async (accession) => {
    const found = listings[Number(accession.slice(-6))] ?? [];
    if (found instanceof FilingsError) throw found;
    return found.map((name) => listed(accession, name));
  },
  chosen: (name) => !name.startsWith('no'),
  layout: defaultLayout(true),
  jobs: 4,
  signal: new AbortController().signal,
  ...more,
});

/** What an item says, shortly: `1 a.htm`. */
function told(item: Expanded): string {
  if (item.kind === 'bad') return `bad ${item.number}: ${item.error.message}`;
  const n = Number(item.accession.slice(-6));
  if (item.kind === 'file') return `${n} ${item.fileName}${item.listed ? '' : ' named'}`;
  return 'fileName' in item ? `${n} ${item.fileName} ${item.kind}` : `${n} ${item.kind}`;
}

async function all(expansion: Expansion): Promise<string[]> {
  const items: string[] = [];
  for await (const item of expansion) items.push(told(item));
  return items;
}

const expanded = (selected: Iterable<Selected>, how: ExpansionOptions) => all(new Expansion(lines(selected), how));

describe('what comes out', () => {
  test('named files, and those chosen from listings, in the order of the input', async () => {
    const selected = [named(1, 'a'), alone(2), named(3, 'b'), alone(4)];
    const listings = { 2: ['x', 'no', 'y'], 4: ['z'] };
    expect(await expanded(selected, options(listings, { jobs: 1 }))).toEqual([
      '1 a named',
      '2 x',
      '2 y',
      '2 listed',
      '3 b named',
      '4 z',
      '4 listed',
    ]);
  });

  test('path and size go with a file', async () => {
    const list = async (accession: AccessionNumber) => [
      { ...listed(accession, 'x'), size: '12' },
      listed(accession, 'y'),
    ];
    const expansion = new Expansion(lines([alone(1), named(2, 'n')]), options({}, { list }));
    const files: Expanded[] = [];
    for await (const item of expansion) if (item.kind === 'file') files.push(item);
    const [one, two] = [filing(1), filing(2)];
    expect(files).toContainEqual({
      kind: 'file',
      accession: one,
      fileName: 'x',
      path: `${one}/x`,
      size: 12,
      listed: true,
    });
    expect(files).toContainEqual({
      kind: 'file',
      accession: one,
      fileName: 'y',
      path: `${one}/y`,
      size: undefined,
      listed: true,
    });
    expect(files).toContainEqual({
      kind: 'file',
      accession: two,
      fileName: 'n',
      path: `${two}/n`,
      size: undefined,
      listed: false,
    });
  });

  test('a filing named twice is listed once, a file named twice is told once', async () => {
    const desk = new Desk();
    const selected = [named(1, 'a'), alone(1), named(1, 'a'), alone(1), named(1, 'c')];
    const items = expanded(selected, options({}, { list: desk.list }));
    await turns();
    await desk.answer(1, ['a', 'b', 'a']);
    expect(await items).toEqual(['1 a named', '1 a again', '1 b', '1 a again', '1 listed', '1 c named']);
    expect(desk.asked).toEqual([1]);
  });

  test('a listing without a match, one that fails, one that is done, a bad line', async () => {
    const fault = new FilingsError('usage', 'a fault');
    const failure = new FilingsError('temporary', 'a failure');
    const selected: Selected[] = [alone(1), alone(2), alone(3), { kind: 'bad', fault, number: 7 }, alone(4)];
    const how = options(
      { 1: ['no1', 'no2'], 2: failure, 4: [] },
      { passesOver: (accession) => accession === filing(3) },
    );
    const items: Expanded[] = [];
    for await (const item of new Expansion(lines(selected), how)) items.push(item);
    expect(items).toHaveLength(4);
    expect(items).toContainEqual({ kind: 'unmatched', accession: filing(1), files: 2 });
    expect(items).toContainEqual({ kind: 'unlisted', accession: filing(2), error: failure });
    expect(items).toContainEqual({ kind: 'bad', number: 7, error: fault });
    expect(items).toContainEqual({ kind: 'unmatched', accession: filing(4), files: 0 });
  });

  test('a filing alone, when nothing chooses, stops the run as a usage error', async () => {
    const expansion = new Expansion(lines([{ ...alone(1), number: 3 }]), options({ 1: ['a'] }, { chosen: undefined }));
    const { value } = await expansion.next();
    expect(value).toMatchObject({ kind: 'bad', number: 3, error: { code: 'usage', stopsRun: true } });
    expect(await expansion.next()).toEqual({ value: undefined, done: true });
  });

  test('unsafe names and twins are the fault of that file alone, from input and listing', async () => {
    const listings = { 1: ['../x', 'A.htm', 'a.htm', 'b.htm', '../x', 'b\u200b.htm'] };
    const selected = [named(2, '.x'), named(2, '.x'), named(2, 'C'), named(2, 'c'), named(2, 'c'), alone(1)];
    const errors: string[] = [];
    const onTaken = (item: Expanded) =>
      item.kind === 'refused' && errors.push(`${item.error.code}: ${item.error.message}`);
    const items = await expanded(selected, options(listings, { onTaken }));
    expect(items.toSorted()).toEqual([
      '1 ../x again',
      '1 ../x refused',
      '1 A.htm',
      '1 a.htm refused',
      '1 b.htm',
      '1 b\u200b.htm refused',
      '1 listed',
      '2 .x refused',
      '2 C named',
      '2 c refused',
    ]);
    expect(errors.every((error) => error.startsWith('integrity: file name '))).toBe(true);
    expect(errors.find((error) => error.includes("'c'"))).toMatch(
      /^integrity: file name 'c' of 0001234567-24-000002: it may be one file/,
    );
  });

  test('each thing is told as it is taken, in that order', async () => {
    const taken: string[] = [];
    const how = options({ 1: ['a', 'b'], 2: ['c'] }, { onTaken: (item) => taken.push(told(item)) });
    expect(await expanded([alone(1), named(3, 'x'), alone(2)], how)).toEqual(taken);
    expect(taken).toHaveLength(6);
  });
});

/** Listings that answer when they are told to. */
class Desk {
  readonly asked: number[] = [];
  readonly aborted: number[] = [];
  under = 0;
  most = 0;
  readonly #open = new Map<number, (files: readonly string[]) => void>();

  readonly list: ExpansionOptions['list'] = (accession, signal) => {
    const n = Number(accession.slice(-6));
    this.asked.push(n);
    this.under += 1;
    this.most = Math.max(this.most, this.under);
    return new Promise<readonly ListedFile[]>((resolve, reject) => {
      signal.addEventListener('abort', () => {
        this.aborted.push(n);
        reject(signal.reason);
      });
      this.#open.set(n, (files) => resolve(files.map((name) => listed(accession, name))));
    }).finally(() => {
      this.under -= 1;
    });
  };

  async answer(n: number, files: readonly string[]): Promise<void> {
    this.#open.get(n)?.(files);
    await turns();
  }
}

const many = (count: number) => Array.from({ length: count }, (_, i) => `f${i}`);

describe('how far it goes ahead', () => {
  test('listings overlap up to jobs, and no more of the input is read', async () => {
    let read = 0;
    async function* endless() {
      for (; ; read += 1) yield alone(read);
    }
    const desk = new Desk();
    const expansion = new Expansion(endless(), options({}, { list: desk.list, jobs: 3 }));
    const first = expansion.next();
    await turns();
    expect([desk.asked, read]).toEqual([[0, 1, 2], 2]);
    await desk.answer(1, ['x']);
    await desk.answer(0, ['x']);
    expect(told((await first).value as Expanded)).toBe('0 x');
    await turns();
    expect(desk.most).toBe(3);
    await expansion.return();
    expect([desk.under, read]).toEqual([0, 2]);
  });

  test('a listing of 100,000 names is matched in turns with others, and handed out one by one', async () => {
    let matched = 0;
    const chosen = () => {
      matched += 1;
      return true;
    };
    let turnsMeanwhile = 0;
    const names = many(100_000);
    const how = options({ 1: names }, { chosen });
    const expansion = new Expansion(lines([alone(1), alone(2), alone(3)]), how);
    const count = () => {
      turnsMeanwhile += 1;
      if (matched < names.length) setImmediate(count);
    };
    const first = expansion.next();
    setImmediate(count);
    await first;
    expect(turnsMeanwhile).toBeGreaterThan(50);
    let files = 1;
    for await (const item of expansion) if (item.kind === 'file') files += 1;
    expect(files).toBe(100_000);
  });
});

describe('how it ends', () => {
  test('with the input’s error, behind all that came before it', async () => {
    const error = new FilingsError('local_io', 'the input: cannot be read');
    async function* broken() {
      yield alone(1);
      yield named(2, 'a');
      throw error;
    }
    const expansion = new Expansion(broken(), options({ 1: ['x'] }));
    const items = [await expansion.next(), await expansion.next(), await expansion.next()].map(
      ({ value }) => value && told(value),
    );
    expect(items.toSorted()).toEqual(['1 listed', '1 x', '2 a named']);
    await expect(expansion.next()).rejects.toBe(error);
  });

  test('with the signal’s reason, for whoever waits and whoever comes', async () => {
    const [desk, controller, reason] = [new Desk(), new AbortController(), new FilingsError('interrupted', 'x')];
    const selected = Array.from({ length: 20 }, (_, i) => alone(i));
    const expansion = new Expansion(lines(selected), options({}, { list: desk.list, signal: controller.signal }));
    const waiting = expansion.next();
    await turns();
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expect(desk.aborted).toEqual([0, 1, 2, 3]);
    // What was read ahead, a filing each.
    expect(expansion.left()).toBe(4);
    const late = new Expansion(lines([named(1, 'a')]), options({}, { signal: controller.signal }));
    await expect(late.next()).rejects.toBe(reason);
  });

  test('by return(): listings are called off, whoever waits is done, the input is let go', async () => {
    const desk = new Desk();
    let letGo = false;
    async function* input() {
      try {
        for (let n = 0; ; n += 1) yield alone(n);
      } finally {
        letGo = true;
      }
    }
    const expansion = new Expansion(input(), options({}, { list: desk.list }));
    const waiting = expansion.next();
    await turns();
    await expansion.return();
    expect(await waiting).toEqual({ value: undefined, done: true });
    expect(await expansion.next()).toEqual({ value: undefined, done: true });
    expect([desk.aborted, desk.under]).toEqual([[0, 1, 2, 3], 0]);
    await turns();
    expect(letGo).toBe(true);
    expect(await expansion.return()).toEqual({ value: undefined, done: true });
  });

  test('by return(), also while the input says nothing', async () => {
    async function* silent(): AsyncGenerator<Selected> {
      await new Promise(() => {});
    }
    const expansion = new Expansion(silent(), options({}));
    const waiting = expansion.next();
    expect(await expansion.return()).toEqual({ value: undefined, done: true });
    expect(await waiting).toEqual({ value: undefined, done: true });
  });

  test('with a defect, when listing ends in one', async () => {
    const defect = new TypeError('x is not a function');
    const list = () => Promise.reject(defect);
    await expect(new Expansion(lines([alone(1)]), options({}, { list })).next()).rejects.toBe(defect);
  });

  test('what is left: files, and one for each filing whose listing is not there', async () => {
    const desk = new Desk();
    const selected = [named(1, 'a'), alone(0), named(1, 'b')];
    const expansion = new Expansion(lines(selected), options({}, { list: desk.list }));
    expect(expansion.left()).toBe(0);
    await expansion.next();
    const next = expansion.next();
    await turns();
    expect(expansion.left()).toBe(2);
    await desk.answer(0, ['x', 'y', 'no']);
    await next;
    expect(expansion.left()).toBe(2);
    await expansion.next();
    expect(expansion.left()).toBe(1);
    await expansion.return();
    expect(expansion.left()).toBe(1);
  });
});

test.each([
  [{ size: 5 }, 5],
  [{ size: 0 }, 0],
  [{ size: '5' }, 5],
  [{ fileSize: 7 }, 7],
  [{ size: 'x', bytes: 7 }, 7],
  [{ size: '1.2 MB' }, undefined],
  [{ size: -1 }, undefined],
  [{ size: 1.5 }, undefined],
  [{ size: 2 ** 60 }, undefined],
  [{ size: null }, undefined],
  [{}, undefined],
])('the size of %j is %j', (members, size) => {
  expect(listedSize({ accession_no: '', file_name: '', ...members })).toBe(size);
});

describe('with jobs that take their time', () => {
  const n = fc.nat(4);
  const name = fc.constantFrom('a', 'b', 'c', 'a', 'b', 'c', 'no', 'A', '.x');
  const line = fc.oneof(fc.record({ n }), fc.record({ n, name }));
  const listing = fc.oneof(
    { arbitrary: fc.array(name, { maxLength: 4 }), weight: 4 },
    { arbitrary: fc.constant(undefined), weight: 1 },
  );
  const cases = fc.record({
    selected: fc.array(line, { maxLength: 20, size: 'max' }),
    listings: fc.array(listing, { minLength: 8, maxLength: 8 }),
    failing: fc.uniqueArray(
      fc.tuple(n, name).map(([of, what]) => `${of} ${what}`),
      { maxLength: 3 },
    ),
    jobs: fc.integer({ min: 1, max: 5 }),
    delays: fc.array(fc.nat(4), { minLength: 1, maxLength: 20 }),
  });

  test('each file comes once, each filing ends once, and the complete ones are told when all of their files stand', async () => {
    const reached = { again: 0, refused: 0, complete: 0, namedBeside: 0, incomplete: 0, unlisted: 0 };
    await fc.assert(
      fc.asyncProperty(cases, async ({ selected, listings, failing, jobs, delays }) => {
        let at = 0;
        const pause = () => {
          at += 1;
          return turns(delays[at % delays.length]);
        };
        let [under, most] = [0, 0];
        const list: ExpansionOptions['list'] = async (accession) => {
          under += 1;
          most = Math.max(most, under);
          await pause();
          under -= 1;
          const names = listings[Number(accession.slice(-6))];
          if (names === undefined) throw new FilingsError('temporary', 'x');
          return names.map((file) => listed(accession, file));
        };
        const tracker = new FilingTracker();
        const onTaken = (item: Expanded) => tracker.taken(item);
        const input = selected.map((one) => ('name' in one ? named(one.n, one.name) : alone(one.n)));
        const expansion = new Expansion(lines(input), options({}, { list, jobs, onTaken }));
        const items: Expanded[] = [];
        const stood = new Set<string>();
        const complete: string[] = [];
        const work = async () => {
          for await (const item of { [Symbol.asyncIterator]: () => ({ next: () => expansion.next() }) }) {
            items.push(item);
            await pause();
            const key = item.kind === 'file' ? `${Number(item.accession.slice(-6))} ${item.fileName}` : '';
            const stands = item.kind === 'file' && !failing.includes(key);
            if (stands) stood.add(key);
            const filingDone = tracker.ended(item, stands);
            if (!filingDone) continue;
            const of = Number(filingDone.accession.slice(-6));
            const chosen = (listings[of] ?? []).filter((file) => file !== 'no');
            complete.push(`${of}`);
            expect(filingDone.files).toBe(chosen.length);
            for (const file of chosen) expect(stood).toContain(`${of} ${file}`);
          }
        };
        await Promise.all(Array.from({ length: jobs }, work));

        expect(most).toBeLessThanOrEqual(jobs);
        expect(tracker.size).toBe(0);
        const files = items.flatMap((item) =>
          item.kind === 'file' || item.kind === 'refused' ? [told({ ...item, kind: 'refused' } as Expanded)] : [],
        );
        expect(new Set(files).size).toBe(files.length);
        const expectedFiles = new Set(
          selected.flatMap((one) => {
            const names = 'name' in one ? [one.name] : (listings[one.n] ?? []).filter((file) => file !== 'no');
            return names.map((file) => `${one.n} ${file} refused`);
          }),
        );
        expect(new Set(files)).toEqual(expectedFiles);
        const filings = [...new Set(selected.flatMap((one) => ('name' in one ? [] : [one.n])))];
        const ends = items.filter(({ kind }) => kind === 'listed' || kind === 'unmatched' || kind === 'unlisted');
        expect(ends.map((item) => ('accession' in item ? item.accession : '')).toSorted()).toEqual(
          filings.map(filing).toSorted(),
        );
        const expectedComplete = filings.filter((of) => {
          const chosen = (listings[of] ?? []).filter((file) => file !== 'no');
          return chosen.length > 0 && chosen.every((file) => stood.has(`${of} ${file}`));
        });
        expect(complete.toSorted()).toEqual(expectedComplete.map(String).toSorted());

        for (const { kind } of items)
          if (kind === 'again' || kind === 'refused' || kind === 'unlisted') reached[kind] += 1;
        reached.complete += complete.length;
        reached.incomplete += filings.length - complete.length;
        for (const of of complete)
          if (selected.some((one) => 'name' in one && `${one.n}` === of && listings[one.n]?.includes(one.name)))
            reached.namedBeside += 1;
      }),
      { numRuns: 300 },
    );
    expect(Math.min(...Object.values(reached))).toBeGreaterThan(20);
  });
});
