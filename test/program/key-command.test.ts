import { expect, test } from 'vitest';
import { configWith, isRunning, pidIn } from './key-command-place.ts';
import { ACCESSION, workplace } from './run.ts';

const KEY = 'canary-key-of-a-command';
const LIST = ['list', ACCESSION] as const;

/** A place whose config file takes the key from a shell script. */
async function placeWith(script: string, baseUrl: string) {
  const place = await workplace();
  return { ...place, config: await configWith(place, script, baseUrl) };
}

test.each(['text', 'json'])('a failed one is told without the key that it gave: %s', async (format) => {
  const place = await placeWith(`echo ${KEY}; echo "cannot use ${KEY}" >&2; exit 3`, 'http://127.0.0.1:1');
  const args = [...LIST, '-v', '--error-format', format, '--config', place.config];
  const { exitCode, stderr } = await place.filings(args);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/sh: exited with status 3: cannot use \[redacted\]/);
  expect(stderr).not.toContain('canary');
});

test('the deadline ends it', async () => {
  const place = await placeWith('echo $$ > pid; exec sleep 600', 'http://127.0.0.1:1');
  const { exitCode, stderr } = await place.filings([...LIST, '--deadline', '5s', '--config', place.config]);
  expect(exitCode, stderr).toBe(7);
  expect(isRunning(await pidIn(place))).toBe(false);
});
