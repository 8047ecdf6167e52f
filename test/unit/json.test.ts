import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_DEPTH, parseJson, parseStrictly, splitMembers } from '../../src/json.ts';
import { proving } from '../proving.ts';

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

test('finds no fault in JSON without duplicate members, and splits it into its members', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(0, 1, 4), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      expect(parseStrictly(text)).toEqual({ value: parseJson(text), fault: undefined });
      if (!text.startsWith('{')) return;
      const members = splitMembers(text).map(([name, json]) => [name, JSON.parse(json)]);
      expect(Object.fromEntries(members)).toEqual(parseJson(text));
    }),
    { seed: 1, numRuns: proving ? 20_000 : 2000 },
  );
});

test.each`
  text          | at
  ${'{"a":1,}'} | ${7}
  ${'{"a" 1}'}  | ${5}
  ${'{} x'}     | ${3}
  ${'["a'}      | ${3}
  ${'[1'}       | ${2}
  ${'[x]'}      | ${undefined}
`('reports the position $at of the syntax error in $text, if V8 says it', ({ text, at }) => {
  expect(parseStrictly(text)).toEqual({ fault: { kind: 'syntax', at } });
});

test.each`
  text                                     | path
  ${'{"a":1,"\\u0061":2}'}                 | ${['a']}
  ${'{"p":[0,{"x":{"b":1,"c":2,"b":3}}]}'} | ${['p', '1', 'x', 'b']}
  ${'{"__proto__":1,"__proto__":2}'}       | ${['__proto__']}
`('reports the path $path of the duplicate member of $text', ({ text, path }) => {
  expect(parseStrictly(text)).toEqual({ value: parseJson(text), fault: { kind: 'duplicate', path } });
});

test('refuses nesting beyond the maximum depth and never overflows the stack', () => {
  expect(parseStrictly(nested(MAX_DEPTH)).fault).toBeUndefined();
  expect(parseStrictly(nested(MAX_DEPTH + 1))).toEqual({ fault: { kind: 'too deep' } });
  expect(parseStrictly(nested(200_000)).fault).toEqual({ kind: 'too deep' });
  // JSON.parse keeps only the second member.
  expect(parseStrictly(`{"a":${nested(MAX_DEPTH)},"a":1}`).fault).toEqual({ kind: 'too deep' });
  expect(parseStrictly(JSON.stringify('\\"x'.repeat(1_000_000))).fault).toBeUndefined();
});
