import { describe, expect, it } from 'vitest';
import { parseAccession } from '../../src/service/accession.ts';
import { findRecords } from '../../src/service/listing/search.ts';

const accession = parseAccession('0001234567-24-000001');

/** A search that goes on for longer is endless. */
const ENDLESS = 5_000_000;

/** JSON data that counts how often a value is taken out of it, or the names of an object's members are asked for. */
function counted(json: unknown) {
  let reads = 0;
  const count = () => {
    reads += 1;
    if (reads > ENDLESS) throw new Error('the search has no end');
  };
  const wrapped = new WeakMap<object, unknown>();
  const wrap = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const known = wrapped.get(value);
    if (known !== undefined) return known;
    const proxy = new Proxy(value, {
      get(target, name) {
        count();
        return wrap(Reflect.get(target, name));
      },
      ownKeys(target) {
        count();
        return Reflect.ownKeys(target);
      },
    });
    wrapped.set(value, proxy);
    return proxy;
  };
  return { value: wrap(json), reads: () => reads };
}

const around = (levels: number, member: string, inner: unknown): unknown =>
  Array.from({ length: levels }).reduce((value: unknown) => ({ [member]: value }), inner);
const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const members = (count: number, make: (index: number) => unknown) =>
  Object.fromEntries(many(count, (i) => [`m${i}`, make(i)]));

describe('the work of a search grows no faster than the data', () => {
  it.each<[shape: string, make: (size: number) => unknown]>([
    [
      'objects in a nest of data',
      (n) =>
        around(
          10,
          'data',
          many(n, () => ({})),
        ),
    ],
    [
      'objects in a nest of any member',
      (n) =>
        around(
          11,
          'x',
          many(n, () => ({})),
        ),
    ],
    [
      'lists in a nest of items',
      (n) =>
        around(
          10,
          'items',
          many(n, () => []),
        ),
    ],
    ['texts in a nest of filing', (n) => around(11, 'filing', { note: many(n, () => 'no name at all') })],
    [
      'many members in a nest',
      (n) =>
        around(
          10,
          'results',
          members(n, () => ({})),
        ),
    ],
    ['many members, each a nest', (n) => members(n, () => around(9, 'value', [{}]))],
    ['many nests in a list', (n) => many(n, () => around(10, 'data', {}))],
    ['names with lists beside them', (n) => around(10, 'data', { name: 'Company', ...members(n, () => [{}, 'x']) })],
    [
      'everything at once',
      (n) =>
        around(
          4,
          'data',
          many(n, () =>
            around(
              3,
              'files',
              members(9, () => [[], {}, 'x']),
            ),
          ),
        ),
    ],
  ])('%s', (_shape, make) => {
    const reads = (size: number) => {
      const data = counted(make(size));
      findRecords(data.value, accession);
      return data.reads();
    };
    expect(reads(2000)).toBeLessThan(12 * reads(200));
  });

  it('also where each level has several ways into the next', () => {
    const reads = (levels: number) => {
      const data = counted(
        around(
          levels,
          'data',
          many(100, () => ({ data: [{}] })),
        ),
      );
      findRecords(data.value, accession);
      return data.reads();
    };
    expect(reads(10)).toBeLessThan(2 * reads(5));
  });
});
