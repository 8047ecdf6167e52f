import { expect, test } from 'vitest';
import { parseAccession } from '../../src/service/accession.ts';

const A = '0001234567-24-000001';

test.each([A, '0000000000-00-000000', '9999999999-99-999999'])('parses %s with and without hyphens', (text) => {
  expect(parseAccession(text)).toBe(text);
  expect(parseAccession(text.replaceAll('-', ''))).toBe(text);
});

const ALMOST = ['0001234567-24000001', '000123456724-000001', `${A}-`, `CIK${A}`, `${A}.txt`, ` ${A}`, `${A}\n`];
const DASHES = ['0001234567–24—000001', '0001234567_24_000001', '0001234567‑24‑000001', '0001234567 - 24 - 000001'];
const WITHIN = ['edgar/data/1234567/0001234567-24-000001.txt', 'https://h.example/000123456724000001/a.htm'];
const WITHOUT_ZEROS = ['1234567-24-000001', '123456724000001', '1234567−24−000001'];
const OTHERS = ['', '-', '0001234567-24-00000', '24-000001', '2024-01-31', '12', '０００１２３４５６７-24-000001'];
test.each<{ text: string; hint: string }>([
  ...[...ALMOST, ...DASHES, ...WITHIN, ...WITHOUT_ZEROS].map((text) => ({ text, hint: `did you mean ${A}?` })),
  ...OTHERS.map((text) => ({ text, hint: `an accession number has 10, 2 and 6 digits, such as ${A}` })),
])('refuses $text with the hint $hint', ({ text, hint }) => {
  const message = `'${text}' is not an accession number`;
  expect(() => parseAccession(text)).toThrow(expect.objectContaining({ code: 'usage', message, hint }));
});

test.each`
  following                           | hint
  ${['24', '000001', 'a.htm']}        | ${`did you mean ${A}?`}
  ${['b.htm', A.replaceAll('-', '')]} | ${expect.stringContaining(`the accession number comes first: ${A} `)}
`('considers the words that follow: $following', ({ following, hint }) => {
  expect(() => parseAccession('0001234567', following)).toThrow(expect.objectContaining({ hint }));
});
