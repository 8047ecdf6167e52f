import { expect, it } from 'vitest';
import { accessionsIn, parseAccession, pasted } from '../../src/service/accession.ts';

const A = '0001234567-24-000001';

it.each([A, '0000000000-00-000000', '9999999999-99-999999'])('takes %s, with hyphens and without', (text) => {
  expect(parseAccession(text)).toBe(text);
  expect(parseAccession(text.replaceAll('-', ''))).toBe(text);
});

const MEANT = ['0001234567-24000001', '000123456724-000001', `${A}-`, `CIK${A}`, `${A}.txt`, ` ${A}`, `${A}\n`];
const SHORT = ['0001234567-24-00000', '001234567-24-000001'];
const NONE = ['', '-', ...SHORT, '0001234567-24-00000a', '０００１２３４５６７-24-000001'];
it.each<[text: string, hint: string]>([
  ...MEANT.map((text): [string, string] => [text, `did you mean ${A}?`]),
  ...NONE.map((text): [string, string] => [text, `such as ${A}`]),
])('refuses %j', (text, hint) => {
  expect(() => parseAccession(text)).toThrow(
    expect.objectContaining({
      code: 'usage',
      message: `'${text}' is not an accession number`,
      hint: expect.stringContaining(hint),
    }),
  );
});

it('cuts a long text', () => {
  expect(() => parseAccession('x'.repeat(100_000))).toThrow(/^.{60,99}$/);
});

it('finds the numbers in a text', () => {
  const text = 'a/000123456724000001/0001234567-24-000002-index.htm?x=0001234567890123456';
  expect(accessionsIn(text)).toEqual([A, '0001234567-24-000002']);
});

const FOLDER = 'https://www.example.com/Archives/data/1234567/000123456724000001';
it.each<[text: string, fileName: string | undefined]>([
  [`${A}/primary.htm`, 'primary.htm'],
  [`${FOLDER}/a%20b.htm`, 'a b.htm'],
  [`${FOLDER}/a%zz.htm`, 'a%zz.htm'],
  [`${FOLDER}/`, undefined],
  [`${FOLDER}/${A}-index.htm`, undefined],
  [`https://api.example/v1/download?accession_no=${A}&file_name=x`, 'x'],
])('%s is a filing or its file', (text, fileName) => {
  expect(pasted(text)).toEqual({ accession: A, ...(fileName && { fileName }) });
});

it.each([A, 'primary.htm', `${FOLDER}/0001234567-24-000002.txt`, 'https://example.com/a.htm', 'https://[/x'])(
  '%s is none',
  (text) => expect(pasted(text)).toBeUndefined(),
);
