import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findJsonFault, MAX_DEPTH, parseJson } from '../../src/json.ts';
import { proving } from '../proving.ts';

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

test('accepts exactly the texts that JSON.parse accepts', () => {
  const pieces = fc.constantFrom(...'{}[],:"\\ -0123.eE+u\n\0tnxa', 'true', 'null', '"a"', '"b":', '\\u00e9', '\\"');
  const randomText = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''));
  const validJson = fc
    .tuple(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(0, 1, 4))
    .map(([value, indent]) => JSON.stringify(value, undefined, indent));
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: randomText }, validJson), (text) => {
      const fault = findJsonFault(text);
      if (fault?.kind !== 'duplicate') expect(fault === undefined).toBe(parseJson(text) !== undefined);
    }),
    { seed: 1, numRuns: proving ? 20_000 : 2000 },
  );
});

test.each`
  text         | at
  ${'[1,]'}    | ${3}
  ${'{"a" 1}'} | ${5}
  ${'{} x'}    | ${3}
  ${'["a'}     | ${1}
  ${'[1'}      | ${2}
`('reports the position $at of the syntax error in $text', ({ text, at }) => {
  expect(findJsonFault(text)).toMatchObject({ kind: 'syntax', at });
});

test.each`
  text                                     | path
  ${'{"a":1,"\\u0061":2}'}                 | ${['a']}
  ${'{"p":[0,{"x":{"b":1,"c":2,"b":3}}]}'} | ${['p', '1', 'x', 'b']}
  ${'{"__proto__":1,"__proto__":2}'}       | ${['__proto__']}
`('reports the path $path of the duplicate member of $text', ({ text, path }) => {
  expect(findJsonFault(text)).toMatchObject({ kind: 'duplicate', path });
});

test('refuses nesting beyond the maximum depth and never overflows the stack', () => {
  expect(findJsonFault(nested(MAX_DEPTH))).toBeUndefined();
  expect(findJsonFault(nested(MAX_DEPTH + 1))).toMatchObject({ kind: 'too deep', at: MAX_DEPTH });
  expect(findJsonFault(nested(200_000))).toMatchObject({ kind: 'too deep' });
  expect(findJsonFault(JSON.stringify('\\"x'.repeat(1_000_000)))).toBeUndefined();
});
