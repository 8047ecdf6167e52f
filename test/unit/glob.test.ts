import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileNameFilter } from '../../src/input/glob.ts';
import { proving } from '../proving.ts';

test.each`
  include                         | exclude          | matching                                          | others
  ${[]}                           | ${[]}            | ${['a.htm', '.b', 'x/y.xml']}                     | ${[]}
  ${['*.htm']}                    | ${[]}            | ${['a.htm', '.htm', '.a.htm', 'x/y.htm']}         | ${['a.html', 'a.HTM', 'a.htm2']}
  ${['*.{xml,xsd}']}              | ${[]}            | ${['a.xml', 'a.xsd']}                             | ${['a.htm']}
  ${[]}                           | ${['*_lab.xml']} | ${['a.xml']}                                      | ${['a_lab.xml']}
  ${['ex*']}                      | ${['*.jpg']}     | ${['ex99.htm']}                                   | ${['ex99.jpg', 'a.htm']}
  ${['R[0-9].htm']}               | ${[]}            | ${['R1.htm']}                                     | ${['Rx.htm']}
  ${['xsl*/*.xml']}               | ${[]}            | ${['xslF345X05/form4.xml']}                       | ${['form4.xml']}
  ${['*(1).htm', '+(2)', '?(3)']} | ${[]}            | ${['a (1).htm', '+(2)', 'x(3)']}                  | ${['1.htm', '2', '3']}
  ${['[!a-c]x', '[^d]y']}         | ${[]}            | ${['dx', '!x', 'ay', '/y']}                       | ${['ax', 'cx', 'x', 'dy']}
  ${['[]x]', '[a-]', '[\\]z]']}   | ${[]}            | ${[']', 'x', '-', 'a', 'z']}                      | ${['[', '\\]']}
  ${['[!]a]']}                    | ${[]}            | ${['b', '[']}                                     | ${[']', 'a']}
  ${['{a,b{1,2,},}.htm']}         | ${[]}            | ${['a.htm', 'b1.htm', 'b2.htm', 'b.htm', '.htm']} | ${['c.htm', 'b12.htm']}
  ${['{*.xml,R?.htm}']}           | ${[]}            | ${['a.xml', 'R1.htm']}                            | ${['R10.htm', 'a.htm']}
  ${['a]b}c,d']}                  | ${[]}            | ${['a]b}c,d']}                                    | ${[]}
  ${['a[1].htm']}                 | ${[]}            | ${['a[1].htm', 'a1.htm']}                         | ${['a2.htm']}
  ${['\\*\\[\\{\\\\']}            | ${[]}            | ${['*[{\\']}                                      | ${['a[{\\']}
  ${['?']}                        | ${[]}            | ${['🙂', 'ñ', '日']}                              | ${['ab', 'n\u0303']}
  ${['[😀-🙏]*']}                 | ${[]}            | ${['🙂.htm']}                                     | ${['a.htm']}
`('include $include and exclude $exclude choose $matching', ({ include, exclude, matching, others }) => {
  expect([...matching, ...others].filter(compileNameFilter(include, exclude))).toEqual(matching);
});

test('any pattern matches the name that equals it or is refused as a usage error', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'*?[]{},\\!^-ab./@(:'), maxLength: 12 }), (glob) => {
      try {
        expect(compileNameFilter([glob], [])(glob)).toBe(true);
      } catch (error) {
        expect(error).toMatchObject({ code: 'usage', hint: expect.any(String) });
      }
    }),
    { seed: 1, numRuns: proving ? 10_000 : 1000 },
  );
});

// A matcher that backtracks or writes out all alternatives would never finish with these patterns.
test.each`
  glob                                       | name                | matches
  ${`${'*a'.repeat(400)}b`}                  | ${'a'.repeat(1000)} | ${false}
  ${`${'*a'.repeat(400)}*`}                  | ${'a'.repeat(1000)} | ${true}
  ${`${'{'.repeat(499)}a${'}'.repeat(499)}`} | ${'a'}              | ${true}
  ${'*'.repeat(1000)}                        | ${'a'.repeat(1000)} | ${true}
`('matching with the pattern $glob ends', ({ glob, name, matches }) => {
  expect(compileNameFilter([glob], [])(name)).toBe(matches);
});

test.each`
  glob                  | message
  ${''}                 | ${/--include '': it is empty/}
  ${'['}                | ${/: a '\[' is not closed/}
  ${'é[a'}              | ${/: a '\[' is not closed/}
  ${'a{b'}              | ${/: a '\{' is not closed/}
  ${'[az-a]'}           | ${/range/i}
  ${'a\\'}              | ${/: nothing follows the '\\' at the end/}
  ${'[[:digit:]]'}      | ${/: \[\[:digit:\] is not supported/}
  ${'R{1..9}.htm'}      | ${/: the range \{1\.\.9\} is not supported/}
  ${'{a,b}'.repeat(10)} | ${/: the braces expand to more than 1000 patterns/}
`('the pattern $glob is refused with a message that matches $message', ({ glob, message }) => {
  expect(() => compileNameFilter([glob], [])).toThrow(message);
  expect(() => compileNameFilter([], [glob])).toThrow(/--exclude/);
});
