import { expect, test } from 'vitest';
import { hintCommand } from '../../src/settings/hint-command.ts';

test.each<[Record<string, string | boolean>, string]>([
  [{}, ''],
  [{ sandbox: true }, ' --sandbox'],
  [{ sandbox: false, jobs: '3', verbose: true, errorFormat: 'json' }, ''],
  [{ profile: 'work', baseUrl: 'https://a.example/x?' }, ` --profile work --base-url 'https://a.example/x?'`],
  [{ profile: `it's` }, ` --profile 'it'\\''s'`],
  [{ profile: '-v' }, ' --profile=-v'],
  [{ config: 'my config.json', allowHttp: true }, ` --config 'my config.json' --allow-http`],
  [{ apiKey: 'secret-key-1', apiKeyFile: 'key' }, ' --api-key-file key'],
  [{ apiKeyFile: '-', jwtFile: '-' }, ''],
])('a hint repeats the flags %j as "%s"', (flags, suffix) => {
  expect(hintCommand('filings list 1', flags)).toBe(`filings list 1${suffix}`);
});
