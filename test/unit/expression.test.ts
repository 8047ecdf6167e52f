import { expect, test } from 'vitest';
import { evaluate, findExpressionFault } from '../../src/service/expression.ts';

const AFTER_NAME = 'expected a dot, [, an operator or the end';
const NAME = 'expected a name, *, [ or {';

test.each`
  expression           | fault
  ${''}                | ${`it ends too early: ${NAME}`}
  ${'data['}           | ${'it ends too early: expected a number, *, ?, a colon or ]'}
  ${'data[?size > x'}  | ${'it ends too early: expected a dot, [, an operator or ]'}
  ${'sum(data'}        | ${'it ends too early: expected a dot, [, an operator, a comma or )'}
  ${'{file_name'}      | ${'it ends too early: expected a colon'}
  ${'"the files'}      | ${'it ends too early: expected the closing quote'}
  ${'the files'}       | ${`unexpected 'files' at character 5: ${AFTER_NAME}`}
  ${'@odata.nextLink'} | ${`unexpected 'odata' at character 2: ${AFTER_NAME}`}
  ${'/data/files'}     | ${`unexpected '/' at character 1: ${NAME}`}
  ${'data["files"]'}   | ${`unexpected '"files"' at character 6: expected a number, *, ?, a colon or ]`}
  ${'size(data)'}      | ${'Unknown function: size()'}
  ${'length()'}        | ${'length() takes 1 argument but received 0'}
`('$expression is no expression: $fault', ({ expression, fault }) => {
  expect(findExpressionFault(expression)).toBe(fault);
});

test.each([
  '@',
  'a.b[].c[] | [?@]',
  '[?d == `1`]',
  "keys(@)[?ends_with(@, '.htm')]",
  'a + b',
  'sum(a[].b)',
  'let $x = a in $x',
])('%s is an expression, although an empty object may not have what it needs', (expression) => {
  expect(findExpressionFault(expression)).toBeUndefined();
});

test.each`
  expression     | reason
  ${'abs(a)'}    | ${'abs() expected argument 1 to be type (number) but received type string instead.'}
  ${'file-name'} | ${'it calculates with something that is not a number (a name with - or / must be in double quotes)'}
`('$expression fails on a value: $reason', ({ expression, reason }) => {
  expect(() => evaluate({ a: 'x' }, expression)).toThrow(reason);
});
