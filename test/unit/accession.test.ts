import { expect, it } from 'vitest';
import { accessionsIn, parseAccession, parseReference } from '../../src/service/accession.ts';

const A = '0001234567-24-000001';

it.each([A, '0000000000-00-000000', '9999999999-99-999999'])('parses %s with and without hyphens', (text) => {
  expect(parseAccession(text)).toBe(text);
  expect(parseAccession(text.replaceAll('-', ''))).toBe(text);
});

const CORRECTABLE = ['0001234567-24000001', '000123456724-000001', `${A}-`, `CIK${A}`, `${A}.txt`, ` ${A}`, `${A}\n`];
const TOO_SHORT = ['0001234567-24-00000', '001234567-24-000001'];
const UNRECOGNIZABLE = ['', '-', ...TOO_SHORT, '0001234567-24-00000a', '０００１２３４５６７-24-000001'];
it.each<[text: string, hint: string]>([
  ...CORRECTABLE.map((text): [string, string] => [text, `did you mean ${A}?`]),
  ...UNRECOGNIZABLE.map((text): [string, string] => [text, `such as ${A}`]),
])('refuses %j with a hint that contains "%s"', (text, hint) => {
  expect(() => parseAccession(text)).toThrow(
    expect.objectContaining({
      code: 'usage',
      message: `'${text}' is not an accession number`,
      hint: expect.stringContaining(hint),
    }),
  );
});

it('shortens a long argument in the error message', () => {
  expect(() => parseAccession('x'.repeat(100_000))).toThrow(/^.{60,99}$/);
});

it('finds the accession numbers in a text', () => {
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
])('reads a filing, and its file if one is named, from %s', (text, fileName) => {
  expect(parseReference(text)).toEqual({ accession: A, ...(fileName && { fileName }) });
});

it.each([A, 'primary.htm', `${FOLDER}/0001234567-24-000002.txt`, 'https://example.com/a.htm', 'https://[/x'])(
  'finds neither a path nor a URL of a filing in %s',
  (text) => expect(parseReference(text)).toBeUndefined(),
);
