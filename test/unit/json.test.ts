import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { placeIn, readJson, readLongJson } from '../../src/json/read.ts';
import { type JsonRules, Reader } from '../../src/json/reader.ts';
import { jsonText } from '../../src/json/text.ts';
import { isJsonObject, JsonNumber, membersOf, numberOf, objectOf } from '../../src/json/value.ts';

const EXACT: JsonRules = { deepest: 100, twice: 'last', numbers: 'exact' };
const PLAIN: JsonRules = { deepest: 100, twice: 'refused', numbers: 'nearest' };

const again = (text: string, rules = EXACT) => jsonText(readJson(text, rules).value);
const faultOf = (text: string, rules = EXACT) => readJson(text, rules).fault;

describe('what is read is written as it stood', () => {
  it.each([
    '1.0',
    '-0',
    '-0.0',
    '1e400',
    '-1E+400',
    '1e-400',
    '9007199254740993',
    '123456789012345678901234567890',
    '0.1000',
    '1E2',
    '1e21',
    '5',
    '-1.5',
    '[]',
    '{}',
    '[[],{},[{}]]',
    '{"b":1,"a":2}',
    '{"10":1,"9":2,"a":3,"1":4}',
    '{"a":3,"1":4,"0":{"2":0,"1":0}}',
    '{"4294967295":1,"4294967294":2,"0":3}',
    '{"__proto__":{"a":1},"constructor":2,"toString":null}',
    '{"":0}',
    '[true,false,null,"","a\\"\\\\b\\n"]',
  ])('%s', (text) => {
    expect(again(text)).toBe(text);
  });

  it('less white space and needless escapes', () => {
    expect(again(' { "\\u0061" : [ 1.0 ,\t"\\/\\u00e9" ]\r\n} ')).toBe('{"a":[1.0,"/é"]}');
  });

  it('the last of two members in the place of the first', () => {
    expect(again('{"a":1,"b":2,"a":3}')).toBe('{"a":3,"b":2}');
    expect(again('{"1":1,"0":2,"1":3}')).toBe('{"1":3,"0":2}');
  });

  it('numbers as near as JavaScript has them, where that is asked for', () => {
    expect(readJson('[1.0,1e400,9007199254740993]', PLAIN).value).toEqual([1, Number.POSITIVE_INFINITY, 2 ** 53]);
  });
});

describe('readJson', () => {
  it('agrees with JSON.parse on whatever JSON.stringify wrote', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(0, 1, 4), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        const parsed: unknown = JSON.parse(text);
        expect(readJson(text, PLAIN).value).toEqual(parsed);
        expect(JSON.parse(again(text))).toEqual(parsed);
      }),
    );
  });

  it('agrees with JSON.parse on what is JSON and what is not', () => {
    const pieces = fc.constantFrom(...'{}[],:"\\ -0123.eE+u\n\0tnxa', 'true', 'null', '"a"', '"b":', '\\u00e9', '\\"');
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        let parsed: unknown;
        try {
          parsed = JSON.parse(text);
        } catch {
          expect(faultOf(text)).toMatchObject({ kind: 'syntax' });
          return;
        }
        expect(readJson(text, { ...PLAIN, twice: 'last' }).value).toEqual(parsed);
      }),
      { numRuns: 5000 },
    );
  });

  it.each<[text: string, at: number]>([
    ['', 0],
    ['[1,]', 3],
    ['{"a" 1}', 5],
    ['{"a":1,}', 7],
    ['[1}', 2],
    ['nul', 0],
    ['01', 1],
    ['"a\nb"', 0],
    ['{} x', 3],
    ['["a', 1],
  ])('says where %j is no JSON', (text, at) => {
    expect(faultOf(text)).toEqual({ kind: 'syntax', at, path: expect.anything() });
  });

  it.each<[text: string, path: string[]]>([
    ['{"a":1,"a":2}', ['a']],
    ['{"a":1,"\\u0061":2}', ['a']],
    ['{"p":[0,{"x":{"b":1,"c":2,"b":3}}]}', ['p', '1', 'x', 'b']],
    ['{"__proto__":1,"__proto__":2}', ['__proto__']],
    ['{"1":1,"1":2}', ['1']],
  ])('names the member that stands twice in %s', (text, path) => {
    expect(faultOf(text, PLAIN)).toMatchObject({ kind: 'twice', path });
  });

  it('keeps to its bounds, and no nesting overflows the stack', () => {
    const nest = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(again(nest(100))).toBe(nest(100));
    expect(faultOf(nest(101))).toMatchObject({ kind: 'too deep', at: 100 });
    expect(readJson(nest(200_000), { ...EXACT, deepest: 200_000 }).fault).toBeUndefined();
    expect(faultOf('[1,[],{}]', { ...EXACT, most: 4 })).toBeUndefined();
    expect(faultOf('[1,[],{}]', { ...EXACT, most: 3 })).toMatchObject({ kind: 'too many' });
  });

  it('counts for several what takes the room and time of several', () => {
    const most = 10_000;
    const members = (count: number) => `{${Array.from({ length: count }, (_, i) => `"m${i}":0`).join(',')}}`;
    expect(faultOf(members(2000), { ...EXACT, most })).toBeUndefined();
    expect(faultOf(members(3000), { ...EXACT, most })).toMatchObject({ kind: 'too many' });
    const ordered = (count: number) => `[${Array.from({ length: count }, () => '{"300":0}').join(',')}]`;
    expect(faultOf(ordered(1000), { ...EXACT, most })).toBeUndefined();
    expect(faultOf(ordered(1200), { ...EXACT, most })).toMatchObject({ kind: 'too many' });
  });

  it('tells the line and column', () => {
    const text = '{\n  "a": 1\n  x }';
    const { fault } = readJson(text, EXACT);
    expect(fault && placeIn(text, fault)).toEqual({ line: 3, column: 3 });
  });

  it('may pause after any value', () => {
    const text = '{"a":[1,{"b":[]},[]],"c":{},"d":"e"}';
    const reader = new Reader(text, EXACT);
    let pauses = 0;
    while (!reader.read(1)) pauses += 1;
    expect(pauses).toBe(7);
    expect(jsonText(reader.value)).toBe(text);
  });
});

describe('values', () => {
  it('that are numbers', () => {
    const exact = new JsonNumber('1.0');
    expect([numberOf(exact), numberOf(2), numberOf('2'), numberOf(null)]).toEqual([1, 2, undefined, undefined]);
    expect([isJsonObject(exact), isJsonObject({}), isJsonObject([]), isJsonObject(null)]).toEqual([
      false,
      true,
      false,
      false,
    ]);
  });

  it('that are objects of any members', () => {
    const object = objectOf([
      ['b', 1],
      ['1', 2],
      ['__proto__', 3],
      ['0', 4],
    ]);
    expect(membersOf(object).map(([name]) => name)).toEqual(['b', '1', '__proto__', '0']);
    expect(jsonText(object)).toBe('{"b":1,"1":2,"__proto__":3,"0":4}');
  });

  it('that JSON has not are written as JSON.stringify does', () => {
    const value = { a: undefined, b: [undefined, Number.NaN], '\ud800': '\u2028' };
    expect(jsonText(value)).toBe(JSON.stringify(value));
  });
});

describe('readLongJson', () => {
  it('lets a signal end it', async () => {
    const text = `[${'0,'.repeat(100_000)}0]`;
    const controller = new AbortController();
    setImmediate(() => controller.abort('stop'));
    await expect(readLongJson(text, EXACT, controller.signal)).rejects.toBe('stop');
    const whole = await readLongJson(text, EXACT, new AbortController().signal);
    expect(whole.value).toHaveLength(100_001);
  });
});
