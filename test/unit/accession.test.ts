import { describe, expect, it } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { accessionsIn, parseAccession } from '../../src/service/accession.ts';

function faultOf(text: string): FilingsError {
  try {
    parseAccession(text);
  } catch (error) {
    if (error instanceof FilingsError) return error;
  }
  throw new Error(`${JSON.stringify(text)} was taken`);
}

describe('parseAccession', () => {
  it.each(['0001234567-24-000001', '0000000000-00-000000', '9999999999-99-999999'])('takes %s', (text) => {
    expect(parseAccession(text)).toBe(text);
    expect(parseAccession(text.replaceAll('-', ''))).toBe(text);
  });

  it.each<[text: string, hint: RegExp]>([
    ['', /such as 0001234567-24-000001/],
    ['0001234567-24-00000', /such as/],
    ['001234567-24-000001', /such as/],
    ['0001234567-24000001', /did you mean 0001234567-24-000001\?/],
    ['000123456724-000001', /did you mean/],
    ['0001234567-24-000001-', /did you mean/],
    ['0001234567', /such as/],
    ['0001234567-24-00000a', /such as/],
    ['CIK0001234567-24-000001', /such as/],
    ['0001234567-24-000001.txt', /did you mean 0001234567-24-000001/],
    ['０００１２３４５６７-24-000001', /did you mean 0001234567-24-000001/],
    ['0001234567–24–000001', /did you mean 0001234567-24-000001/],
    [' 0001234567-24-000001', /did you mean 0001234567-24-000001/],
    ['0001234567-24-000001\n', /did you mean/],
    ['0001234567/24/000001', /such as/],
    ['-', /such as/],
  ])('refuses %j', (text, hint) => {
    const error = faultOf(text);
    expect(error.code).toBe('usage');
    expect(error.message).toBe(`'${text}' is not an accession number`);
    expect(error.hint).toMatch(hint);
  });

  it('cuts a long text', () => {
    expect(faultOf('x'.repeat(100_000)).message.length).toBeLessThan(200);
  });
});

it('finds the numbers in a text', () => {
  expect(accessionsIn('a/000123456724000001/0001234567-24-000002-index.htm?x=0001234567890123456')).toEqual([
    '0001234567-24-000001',
    '0001234567-24-000002',
  ]);
});
