import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/catalogue.ts';
import { commandPlaces } from '../../src/help/program.ts';
import { SETTINGS, SHARED_OPTIONS } from '../../src/settings/table.ts';
import { named } from '../../src/spec/option.ts';

/** The values that stand more than once. */
function repeated(values: readonly (string | undefined)[]): readonly (string | undefined)[] {
  return values.filter((value, index) => value !== undefined && values.indexOf(value) !== index);
}

describe('the settings', () => {
  test('have names of their own', () => {
    expect(repeated(SETTINGS.map(({ key }) => key))).toEqual([]);
    expect(repeated(SETTINGS.map(({ env }) => env))).toEqual([]);
  });

  test.each(SHARED_OPTIONS)('$key has its flag and variable', ({ key, flag, env, value, kind }) => {
    expect(flag).toBe(key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
    if (env !== undefined) expect(env).toBe(`FILINGS_${flag.toUpperCase().replaceAll('-', '_')}`);
    expect(value === undefined).toBe(kind.json === 'boolean');
  });

  test('say what they are, and have a default that their kind can read', () => {
    for (const { help, kind, default: text } of SETTINGS) {
      expect(help).not.toBe('');
      if (text !== undefined) expect(kind.parse(text)).toBeDefined();
    }
  });
});

test.each(commandPlaces(COMMANDS).map(({ path, spec }) => ({ name: path.join(' '), spec })))(
  '$name has options, texts and defaults that fit together',
  ({ spec }) => {
    const options = [...named(spec.options), ...SHARED_OPTIONS];
    expect(repeated([...options.map(({ flag }) => flag), 'help', 'version'])).toEqual([]);
    expect(repeated([...options.map(({ short }) => short), 'h', 'V'])).toEqual([]);
    expect(spec.summary).toMatch(/^[a-z].*[^.]$/);
    expect(options.filter(({ help, value }) => help === '' || value === '')).toEqual([]);
    expect(options.filter(({ kind, value }) => kind.choices !== undefined && value === undefined)).toEqual([]);
    for (const { kind, default: text, excludes = [] } of named(spec.options)) {
      if (text !== undefined) expect(kind.parse(text)).toBeDefined();
      expect(excludes.filter((name) => !Object.hasOwn(spec.options ?? {}, name))).toEqual([]);
    }
    expect(spec.load === undefined).toBe(spec.children !== undefined);
  },
);
