import { expect, test } from 'vitest';
import { configWith, isRunning, pidIn } from '../program/key-command-place.ts';
import { ACCESSION, until, workplace } from './program.ts';

/** A place whose config file takes the key from a shell script. */
async function placeWith(script: string, baseUrl: string) {
  const place = await workplace();
  return { ...place, config: await configWith(place, script, baseUrl) };
}

test('a signal ends it', async () => {
  const place = await placeWith('echo $$ > pid; exec sleep 600', 'http://127.0.0.1:1');
  const running = place.start(['list', ACCESSION, '--config', place.config]);
  await until(async () => (await pidIn(place)) > 0);
  running.kill('SIGTERM');
  expect((await running.ended).exitCode).toBe(143);
  const pid = await pidIn(place);
  await until(() => !isRunning(pid));
});
