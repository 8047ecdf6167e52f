import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CompleteFilings } from '../../src/batch/done-list.ts';
import type { FileItem, Item, NamedFile } from '../../src/batch/item.ts';
import { defaultLayout } from '../../src/batch/layout.ts';
import { NameCheck } from '../../src/batch/name-check.ts';
import { parseAccession } from '../../src/service/accession.ts';

const accession = parseAccession('0001234567-24-000001');
const name = fc.constantFrom('a', 'b', 'c', 'A', '.x');
const cases = fc.record({
  before: fc.uniqueArray(name),
  chosen: fc.uniqueArray(name, { minLength: 1 }),
  after: fc.uniqueArray(name),
  failing: fc.uniqueArray(name, { maxLength: 2 }),
  /** After so many of the first lines' files have ended, the listing comes. */
  ended: fc.nat(4),
});

test('a filing is complete once, when all its chosen files exist, named or not', () => {
  const reached = { complete: 0, incomplete: 0, waited: 0 };
  fc.assert(
    fc.property(cases, ({ before, chosen, after, failing, ended }) => {
      const filings = new CompleteFilings();
      const check = new NameCheck(defaultLayout(true));
      const filing = { accession, files: chosen.length, due: chosen.length, isWhole: true };
      const running: FileItem[] = [];
      const existing = new Set<string>();
      const complete: unknown[] = [];
      const end = (item: Item) => {
        const exists = item.kind === 'file' && !(failing as string[]).includes(item.fileName);
        if (item.kind === 'file' && exists) existing.add(item.fileName);
        complete.push(...filings.ended(item, exists));
        if (complete.length > 0) for (const each of chosen) expect(existing).toContain(each);
      };
      const take = (fileName: string, of: NamedFile['filing']) => {
        const item = check.check({ accession, fileName, size: undefined, filing: of });
        if (item.kind !== 'file') return end(item);
        running.push(item);
      };
      for (const each of before) take(each, undefined);
      for (const item of running.splice(0, ended)) end(item);
      if (running.length > 0) reached.waited += 1;
      for (const each of chosen) take(each, filing);
      for (const each of after) take(each, undefined);
      for (const item of running) end(item);
      complete.push(...filings.finish());
      const isComplete = chosen.every((each) => existing.has(each));
      expect(complete).toEqual(isComplete ? [filing] : []);
      reached[isComplete ? 'complete' : 'incomplete'] += 1;
    }),
    { numRuns: 500 },
  );
  expect(Math.min(...Object.values(reached))).toBeGreaterThan(20);
});
