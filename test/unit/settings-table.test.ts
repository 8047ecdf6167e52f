import { expect, test } from 'vitest';
import { commandNodes } from '../../scripts/reference/command-nodes.ts';
import { COMMANDS } from '../../src/cli/catalogue.ts';
import { FLAG_SETTINGS } from '../../src/settings/table.ts';
import { toNamedOptions } from '../../src/spec/option.ts';

test.each(commandNodes(COMMANDS).map(({ path, spec }) => ({ name: path.join(' '), spec })))(
  '$name has unique options, complete help texts and valid defaults',
  ({ spec }) => {
    const options = [...toNamedOptions(spec.options), ...FLAG_SETTINGS];
    const flags = [
      ...options.flatMap(({ flag, short }) => [flag, short ?? []].flat()),
      '--help',
      'h',
      '--version',
      'V',
    ];
    expect(flags.filter((flag, index) => flags.indexOf(flag) !== index)).toEqual([]);
    expect(spec.summary).toMatch(/^[a-z].*[^.]$/);
    for (const { kind, help, value, default: text, excludes = [] } of options) {
      expect(help && value).not.toBe('');
      expect(value === undefined).toBe(kind.json === 'boolean');
      if (text !== undefined) expect(kind.parse(text)).toBeDefined();
      for (const name of excludes) expect(spec.options).toHaveProperty(name);
    }
    expect(spec.load === undefined).toBe(spec.children !== undefined);
  },
);
