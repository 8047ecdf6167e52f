// The order in which lines become items, and what is requested ahead.
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { Counts } from '../../src/batch/counts.ts';
import type { Item } from '../../src/batch/item.ts';
import { parseLayout } from '../../src/batch/layout.ts';
import { createNameCheck } from '../../src/batch/name-check.ts';
import { Selection, type SelectionOptions } from '../../src/batch/selection.ts';
import { FilingsError } from '../../src/errors.ts';
import type { Line } from '../../src/input/lines.ts';
import { parseAccession } from '../../src/service/accession.ts';
import { accession } from '../servers/archive.ts';

const never = new AbortController().signal;
const filing = (n: number) => parseAccession(accession(n));
const named = (n: number, fileName: string): Line => ({ kind: 'entry', accession: filing(n), fileName });
const listed = (n: number): Line => ({ kind: 'entry', accession: filing(n) });
const turn = async () => {
  for (let turns = 0; turns < 5; turns += 1) await setImmediate();
};

/** An input to which a test adds groups of lines, and listings that a test answers. */
function setUp(groups: readonly (readonly Line[])[], more: Partial<SelectionOptions> = {}, isOpen = false) {
  const asked: number[] = [];
  const answers = new Map<number, (files: readonly string[] | Error) => void>();
  async function* lines() {
    yield* groups;
    if (isOpen) await new Promise(() => {});
  }
  const counts = new Counts({}, () => 0);
  const selection = new Selection({
    lines: lines(),
    list: (number) =>
      new Promise((resolve, reject) => {
        const n = Number(number.slice(-6));
        asked.push(n);
        answers.set(n, (files) =>
          files instanceof Error
            ? reject(files)
            : resolve(files.map((file_name) => ({ accession_no: number, file_name, size: 5 }))),
        );
      }),
    checkName: createNameCheck(parseLayout('{accession_no}/{file_name}', 'linux'), new Map()),
    nameFilter: (name) => name !== 'x',
    isDone: () => false,
    counts,
    jobs: 2,
    signal: never,
    ...more,
  });
  const items: string[] = [];
  const done = (async () => {
    for await (const group of selection.items()) for (const item of group) items.push(wordOf(item));
  })();
  done.catch(() => {});
  const answer = async (n: number, files: readonly string[] | Error = ['a', 'b']) => {
    answers.get(n)?.(files);
    await turn();
  };
  return { selection, counts, asked, answer, items, done };
}

const wordOf = (item: Item) =>
  `${'accession' in item ? Number(item.accession.slice(-6)) : ''}${'fileName' in item ? item.fileName : ''} ${item.kind}`;

test('items come in the order of the input, although listings arrive in another order', async () => {
  const input = [
    [named(9, 'f'), listed(1), listed(2)],
    [named(1, 'a'), listed(3), named(8, 'g')],
  ];
  const { asked, answer, items, done } = setUp(input, { jobs: 4 });
  await turn();
  expect([asked, items]).toEqual([[1, 2, 3], ['9f file']]);
  await answer(3);
  await answer(2, ['x']);
  expect(items).toEqual(['9f file']);
  await answer(1);
  await done;
  const first = ['9f file', '1a file', '1b file', '2 unmatched', '1a duplicate'];
  expect(items).toEqual([...first, '3a file', '3b file', '8g file']);
});

test('an arrived listing is handed over although the next line of a slow input has not come', async () => {
  const { answer, items } = setUp([[listed(1)]], {}, true);
  await turn();
  await answer(1);
  expect(items).toEqual(['1a file', '1b file']);
});

test('no more listings are requested ahead than there are jobs, and one of a failed filing is an item', async () => {
  const { asked, answer, items, done } = setUp([[1, 2, 3, 4].map(listed)]);
  await turn();
  expect(asked).toEqual([1, 2]);
  await answer(2, new FilingsError('not_found', 'no'));
  expect(asked).toEqual([1, 2]);
  await answer(1);
  expect([asked, items]).toEqual([
    [1, 2, 3, 4],
    ['1a file', '1b file', '2 unlisted'],
  ]);
  await answer(3, new TypeError('a defect'));
  await expect(done).rejects.toThrow('a defect');
});

test('a filing is listed once, and not at all if it is done', async () => {
  const counted: string[] = [];
  const isDone = (number: string) => counted.push(number) > 1;
  const { asked, answer, done, counts } = setUp([[1, 2, 1, 2].map(listed)], { isDone });
  await turn();
  await answer(1);
  await done;
  expect([asked, counted, counts.doneFilings]).toEqual([[1], [filing(1), filing(2)], 1]);
});

test('a line that needs a selection is a usage error at its place, and an invalid line stays as it is', async () => {
  const bad = { kind: 'invalid', error: new FilingsError('usage', 'no'), number: 1 } as const;
  const { items, done } = setUp([[bad, named(1, 'a'), listed(2)]], { nameFilter: undefined });
  await done;
  expect(items).toEqual([' invalid', '1a file', ' invalid']);
});

test('an error of the input comes after the items before it', async () => {
  async function* lines() {
    yield [listed(1)];
    throw new FilingsError('local_io', 'cannot be read');
  }
  const { answer, items, done } = setUp([], { lines: lines() });
  await turn();
  await answer(1);
  await expect(done).rejects.toThrow('cannot be read');
  expect(items).toEqual(['1a file', '1b file']);
});

test('the counts know all lines that were read ahead, and the sizes of listed files', async () => {
  const groups = [
    [named(9, 'f'), named(9, 'f')],
    [listed(1), listed(2)],
    [listed(1), listed(3)],
  ];
  const { counts, answer } = setUp(groups, { jobs: 1 });
  await turn();
  expect(counts).toMatchObject({ files: 1, filesWithoutSize: 1, pendingListings: 3, hasInputEnded: true });
  await answer(1);
  expect(counts).toMatchObject({ files: 3, listedBytes: 10, filesWithoutSize: 1, pendingListings: 2 });
  await answer(2, new FilingsError('not_found', 'no'));
  await answer(3, ['a', 'x']);
  expect(counts).toMatchObject({ files: 5, listedBytes: 15, filesWithoutSize: 2, pendingListings: 0 });
});

test('reading ahead stops at 100,000 lines and goes on when they are taken', async () => {
  let read = 0;
  async function* lines() {
    yield [listed(1)];
    for (; read < 15; read += 1) yield Array.from({ length: 10_000 }, (_, at) => named(read, `${at}`));
  }
  const { selection, counts, answer, items, done } = setUp([], { lines: lines() });
  await selection.waitForEnd(sleep);
  expect([read, counts.hasInputEnded]).toEqual([9, false]);
  await answer(1);
  await done;
  expect([read, counts.hasInputEnded, items.length]).toEqual([15, true, 150_002]);
});

test('waiting for the end of an input ends with it, or after a moment if it has none', async () => {
  const { selection: never, counts } = setUp([[listed(1)]], {}, true);
  await setUp([[listed(1)]]).selection.waitForEnd((_ms, signal) => sleep(3_600_000, signal));
  await never.waitForEnd(async () => {});
  expect(counts.hasInputEnded).toBe(false);
});
