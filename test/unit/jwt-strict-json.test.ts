import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJsonObject, readJsonObjectLeniently, structureFault } from '../../src/jwt/token/strict-json.ts';

const read = (text: string) => readJsonObject(Buffer.from(text));

describe('readJsonObject', () => {
  it.each<[string, object]>([
    ['{}', {}],
    [' { "a" : 1 } \n', { a: 1 }],
    ['{"a":{"b":1},"b":{"b":2}}', { a: { b: 1 }, b: { b: 2 } }],
    ['{"a":[{"b":1},{"b":1}]}', { a: [{ b: 1 }, { b: 1 }] }],
    ['{"a":"a","b":["a","a"]}', { a: 'a', b: ['a', 'a'] }],
    ['{"a":"{\\"b\\":1,\\"b\\":2}"}', { a: '{"b":1,"b":2}' }],
    ['{"a":"\\\\","b":"\\\\\\""}', { a: '\\', b: '\\"' }],
    ['{"a":1,"A":2}', { a: 1, A: 2 }],
    ['{"":1," ":2}', { '': 1, ' ': 2 }],
  ])('takes %s', (text, value) => {
    expect(read(text)).toEqual(value);
  });

  it('keeps a member called __proto__ as data', () => {
    const value = read('{"__proto__":{"alg":"none"}}') as Record<string, unknown>;
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
    expect(value.alg).toBeUndefined();
  });

  it.each<[string, RegExp]>([
    ['', /not JSON/],
    ['{', /not JSON/],
    ["{'a':1}", /not JSON/],
    ['{"a":1,}', /not JSON/],
    ['{"a":01}', /not JSON/],
    ['{"a":NaN}', /not JSON/],
    ['{"a":1}x', /not JSON/],
    ['// {}', /not JSON/],
    ['null', /not a JSON object/],
    ['[{}]', /not a JSON object/],
    ['"{}"', /not a JSON object/],
    ['\ufeff{}', /byte-order mark/],
    ['{"a":1,"a":1}', /"a" twice/],
    ['{"a":1,"\\u0061":1}', /"a" twice/],
    ['{"b":{"a":[1,{"c":1,"d":2,"c":3}]}}', /"c" twice/],
    ['{"":1,"":2}', /"" twice/],
    ['{"__proto__":1,"__proto__":2}', /"__proto__" twice/],
    [`{"a":${'['.repeat(100)}${']'.repeat(100)}}`, /100 levels/],
    [`{"a":${'{"a":'.repeat(100)}1${'}'.repeat(100)}}`, /100 levels/],
  ])('refuses %s', (text, reason) => {
    expect(read(text)).toMatch(reason);
  });

  it('refuses what is not UTF-8', () => {
    expect(readJsonObject(Buffer.from([0x7b, 0xff, 0x7d]))).toMatch(/not UTF-8/);
    expect(readJsonObject(Buffer.from('{"a":"\xc3"}', 'latin1'))).toMatch(/not UTF-8/);
  });

  it('takes 64 KiB of quotes and backslashes, and as many members', () => {
    const text = JSON.stringify({ a: '\\"'.repeat(16_000) });
    expect(read(text)).toEqual(JSON.parse(text));
    const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 8000 }, (_, i) => [`n${i}`, i])));
    expect(read(wide)).toEqual(JSON.parse(wide));
  });

  it('agrees with JSON.parse on whatever JSON.stringify wrote', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), (value) => {
        const text = JSON.stringify(value);
        expect(read(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('finds a member that was added a second time, anywhere', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue({ maxDepth: 3 }), fc.nat(5), (name, value, depth) => {
        const twice = `{${JSON.stringify(name)}:${JSON.stringify(value)},"+${'x'.repeat(9)}":0,${JSON.stringify(name)}:1}`;
        const text = `${'{"a":['.repeat(depth)}${twice}${']}'.repeat(depth)}`;
        expect(structureFault(text)).toMatch(/twice/);
      }),
    );
  });
});

describe('readJsonObjectLeniently', () => {
  it.each<[string, object]>([
    ['{"a":1,"a":2}', { a: 2 }],
    ['\ufeff{"a":1}', { a: 1 }],
  ])('takes %s', (text, value) => {
    expect(readJsonObjectLeniently(Buffer.from(text))).toEqual(value);
  });

  it.each(['[]', 'x', `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`])('refuses %s', (text) => {
    expect(readJsonObjectLeniently(Buffer.from(text))).toBeTypeOf('string');
  });
});

describe('the edges of both readers', () => {
  const nested = (levels: number, open = '[', close = ']') =>
    `{"a":${open.repeat(levels - 1)}1${close.repeat(levels - 1)}}`;
  const tooDeep = 'is nested more than 100 levels deep';
  const both = (text: string) => [read(text), readJsonObjectLeniently(Buffer.from(text))];

  it.each([
    ['lists', nested(100), nested(101)],
    ['objects', nested(100, '{"a":', '}'), nested(101, '{"a":', '}')],
  ])('take 100 levels of %s and not one more', (_, deepest, deeper) => {
    expect(both(deepest)).toEqual([JSON.parse(deepest), JSON.parse(deepest)]);
    expect(both(deeper)).toEqual([tooDeep, tooDeep]);
  });

  it.each([
    ['lists', '[1,2]'],
    ['objects', '{"b":1}'],
    ['brackets in text', '"]}[{"'],
  ])('take any number of %s side by side', (_, value) => {
    const text = `{"a":[${Array(300).fill(value).join(',')}]}`;
    expect(both(text)).toEqual([JSON.parse(text), JSON.parse(text)]);
  });

  it('do not take the members of a list for names', () => {
    const text = '{"a":["x","y","y","y"],"b":[["y"],{"y":"y"},"y","y"]}';
    expect(both(text)).toEqual([JSON.parse(text), JSON.parse(text)]);
  });

  it.each([
    ['{"a":1,"a":1', 'has the member "a" twice', 'is not JSON'],
    ['{"a":1,"a":1}]', 'has the member "a" twice', 'is not JSON'],
    ['[{"a":1,"a":1}]', 'has the member "a" twice', 'is not a JSON object'],
  ])('refuse %s for the first fault that each looks for', (text, strictly, leniently) => {
    expect(both(text)).toEqual([strictly, leniently]);
  });

  it('refuse what is not UTF-8', () => {
    const bytes = Buffer.from([0x7b, 0xff, 0x7d]);
    expect([readJsonObject(bytes), readJsonObjectLeniently(bytes)]).toEqual(['is not UTF-8', 'is not UTF-8']);
  });

  it('leave a byte-order mark inside where it is', () => {
    expect(both('{"a":"\ufeff"}')).toEqual([{ a: '\ufeff' }, { a: '\ufeff' }]);
  });

  it('quote no more than 40 characters of a name', () => {
    const name = `${'n'.repeat(40)}o`;
    expect(read(`{"${name}":1,"${name}":2}`)).toBe(`has the member "${'n'.repeat(39)}…" twice`);
  });
});
