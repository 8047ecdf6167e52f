import { describe, expect, it } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { parseAccession } from '../../src/service/accession.ts';

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
  });

  it('takes the 18 digits alone, which mean the same', () => {
    expect(parseAccession('000123456724000001')).toBe('0001234567-24-000001');
  });

  it.each<[text: string, reason: RegExp, hint: RegExp]>([
    ['', /it is empty/, /such as 0001234567-24-000001/],
    ['0001234567-24-00000', /10, 2, 5 digits where 10, 2 and 6/, /such as/],
    ['001234567-24-000001', /9, 2, 6 digits/, /such as/],
    ['0001234567-24-000001-', /10, 2, 6, 0 digits/, /did you mean/],
    ['0001234567', /10 digits where/, /such as/],
    ['0001234567-24-00000a', /letters/, /such as/],
    ['CIK0001234567-24-000001', /letters/, /such as/],
    ['0001234567-24-000001.txt', /letters/, /did you mean 0001234567-24-000001/],
    ['０００１２３４５６７-24-000001', /digits that are not 0 to 9/, /did you mean 0001234567-24-000001/],
    ['0001234567–24–000001', /dashes that are not the ASCII one/, /did you mean 0001234567-24-000001/],
    [' 0001234567-24-000001', /white space/, /did you mean 0001234567-24-000001/],
    ['0001234567-24-000001\n', /white space/, /did you mean/],
    ['0001234567 24 000001', /white space/, /did you mean/],
    ['0001234567/24/000001', /neither digits nor dashes/, /such as/],
    ['-', /0, 0 digits/, /such as/],
  ])('refuses %j', (text, reason, hint) => {
    const error = faultOf(text);
    expect(error.code).toBe('usage');
    expect(error.message).toMatch(/^accession number '/);
    expect(error.message).toMatch(reason);
    expect(error.hint).toMatch(hint);
  });

  it('cuts a long text', () => {
    expect(faultOf('x'.repeat(100_000)).message.length).toBeLessThan(200);
  });
});
