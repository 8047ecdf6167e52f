import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ACCESSION, serve, workplace } from './program.ts';

const MISSING = ['download', ACCESSION, 'no-such.htm'] as const;

/** The command that a hint ends with. */
const commandIn = (stderr: string) => /hint: .*: (filings .*)\n/.exec(stderr)?.[1] ?? '';

test.each<[string, (url: string, config: string) => string[]]>([
  ['--sandbox', () => ['--sandbox']],
  ['--profile', (_, config) => ['--profile', `it's`, '--config', config]],
  ['--base-url', (url) => ['--base-url', url]],
])('the hint of a 404 works when it is pasted: %s', async (_, flagsFor) => {
  const { url } = await serve(['--api-key', 'a-key-1234']);
  const place = await workplace();
  const config = join(place.path, 'my config.json');
  await writeFile(config, JSON.stringify({ profiles: { "it's": { baseUrl: url } } }), { mode: 0o600 });
  const env = { FILINGS_API_KEY: 'a-key-1234' };
  const { exitCode, stderr } = await place.filings([...MISSING, ...flagsFor(url, config)], env);
  expect(exitCode, stderr).toBe(5);
  expect(stderr).not.toContain('a-key-1234');
  const pasted = await place.shell(`filings() { $FILINGS "$@"; }\n${commandIn(stderr)}`, env);
  expect(pasted.exitCode, `${commandIn(stderr)}\n${pasted.stderr}`).toBe(0);
  expect(pasted.stdout.toString()).toContain('primary.htm\n');
});

test('the hint of a 404 names no flag that was not typed, and no key', async () => {
  const { url } = await serve(['--api-key', 'a-key-1234']);
  const place = await workplace();
  const { stderr } = await place.filings([...MISSING, '--api-key', 'a-key-1234', '-v'], { FILINGS_BASE_URL: url });
  expect(commandIn(stderr)).toBe(`filings list ${ACCESSION}`);
});
