import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/catalogue.ts';
import { SHARED_OPTIONS } from '../../src/program.ts';
import { placed } from '../../src/reference/describe.ts';
import { SETTINGS } from '../../src/settings/options.ts';

/** The values that stand more than once. */
function repeated(values: readonly (string | undefined)[]): readonly (string | undefined)[] {
  return values.filter((value, index) => value !== undefined && values.indexOf(value) !== index);
}

describe('the settings', () => {
  test('have names of their own', () => {
    expect(repeated(SETTINGS.map(({ key }) => key))).toEqual([]);
    expect(repeated(SETTINGS.map(({ env }) => env))).toEqual([]);
  });

  test.each(SETTINGS.filter(({ option }) => option !== undefined))('$key has its flag and variable', (spec) => {
    const flag = spec.key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    expect(spec.option?.flag).toBe(flag);
    if (spec.env !== undefined) expect(spec.env).toBe(`FILINGS_${flag.toUpperCase().replaceAll('-', '_')}`);
    expect(spec.option?.value === undefined).toBe(spec.kind === 'switch');
    expect(spec.kind === 'choice').toBe(spec.option?.choices !== undefined);
  });

  test('say what they are', () => {
    expect(SETTINGS.filter(({ option, help }) => !(option?.help ?? help))).toEqual([]);
  });
});

describe.each(placed(COMMANDS).map(({ path, spec }) => ({ name: path.join(' '), spec })))('$name', ({ spec }) => {
  const options = [...(spec.options ?? []), ...SHARED_OPTIONS];

  test('has no option twice', () => {
    expect(repeated([...options.map(({ flag }) => flag), 'help', 'version'])).toEqual([]);
    expect(repeated([...options.map(({ short }) => short), 'h', 'V'])).toEqual([]);
  });

  test('has a summary, and its options their text and placeholder', () => {
    expect(spec.summary).toMatch(/^[a-z].*[^.]$/);
    expect(options.filter(({ help }) => help === '')).toEqual([]);
    expect(options.filter(({ value }) => value === '')).toEqual([]);
    expect(options.filter(({ choices, value }) => choices !== undefined && value === undefined)).toEqual([]);
  });

  test('either runs or has children', () => {
    expect(spec.load === undefined).toBe(spec.children !== undefined);
  });
});
