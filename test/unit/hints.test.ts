import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/catalogue.ts';
import type { Hint } from '../../src/errors.ts';
import { HINTS, hintOf } from '../../src/session/hints.ts';
import { SHARED_OPTIONS } from '../../src/settings/table.ts';
import type { CommandSpec } from '../../src/spec/command.ts';
import { named } from '../../src/spec/option.ts';

const KEY = 'check the API key from --api-key-file, how it is sent (--key-in), and whether it wants a JWT too';

test.each<[text: string | undefined, hint: Hint | undefined, retryCommand?: string]>([
  [undefined, undefined],
  ['wait', 'wait'],
  ['to retry the failed files: filings x', undefined, 'filings x'],
  ['wait; to retry the failed files: filings x', 'wait', 'filings x'],
  ['read all its pages: --page-size 100', { advice: 'read-pages' }],
  [KEY, { advice: 'check-key', source: '--api-key-file' }],
  [`${KEY}: filings config check`, { advice: 'check-key', source: '--api-key-file', command: 'filings config check' }],
  [
    'longer than --max-retry-after (300 s): run it again after that time',
    { advice: 'wait', longestMs: 300_000, isRateLimited: false },
  ],
  [
    'longer than --max-retry-after (2 s): run it again after that time, with fewer requests: --rate 1/s',
    { advice: 'wait', longestMs: 2000, isRateLimited: true },
  ],
])('the hint is: %s', (text, hint, retryCommand) => {
  expect(hintOf({ hint, retryCommand })).toBe(text);
});

test.each(Object.entries(HINTS))('%s names only options that exist', (_, hint) => {
  const options = [...SHARED_OPTIONS, ...COMMANDS.flatMap(optionsOf)];
  const known = options.flatMap(({ flag, short }) => [`--${flag}`, `-${short}`]);
  const words = hint.match(/(?<![\w-])--?[a-z][\w-]*/g) ?? [];
  expect(words.length).toBeGreaterThan(0);
  expect(words.filter((word) => !known.includes(word))).toEqual([]);
});

function optionsOf({ options, children = [] }: CommandSpec): ReturnType<typeof named> {
  return [...named(options), ...children.flatMap(optionsOf)];
}
