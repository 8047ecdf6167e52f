import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeBase64url,
  readJsonObject,
  readJsonObjectLeniently,
  structureFault,
} from '../../src/jwt/strict-token.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

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

describe('canonical base64url', () => {
  it('takes what an encoder writes, and nothing that decodes to the same', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64url');
        expect(decodeBase64url(text)).toEqual(Buffer.from(bytes));
        expect(decodeBase64url(`${text}=`)).toBeUndefined();
        for (const foreign of ['\n', ' ', '+', '/', '.', '\0', 'é', '🙂', '\ud800']) {
          expect(decodeBase64url(text + foreign)).toBeUndefined();
          expect(decodeBase64url(foreign + text)).toBeUndefined();
        }
        const spellings = [...ALPHABET].map((last) => text.slice(0, -1) + last);
        expect(spellings.filter((spelling) => decodeBase64url(spelling)?.equals(bytes))).toEqual([text]);
      }),
    );
  });
});
