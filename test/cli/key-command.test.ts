import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ACCESSION, until, type Workplace, workplace } from './program.ts';

/** A place whose config file takes the key from a shell script. */
async function placeWith(script: string, baseUrl: string): Promise<Workplace & { readonly config: string }> {
  const place = await workplace();
  const config = join(place.home, 'config.json');
  await writeFile(config, JSON.stringify({ baseUrl, apiKeyCommand: ['sh', '-c', script] }), { mode: 0o600 });
  return { ...place, config };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const pidIn = async (place: Workplace) => Number(await readFile(join(place.path, 'pid'), 'utf8').catch(() => '0'));

test('a signal ends it, and what it has started, also one that does not mind SIGTERM', async () => {
  const place = await placeWith(`trap '' TERM; sh -c 'echo $$ > pid; sleep 600'; true`, 'http://127.0.0.1:1');
  const running = place.start(['list', ACCESSION, '--config', place.config]);
  await until(async () => (await pidIn(place)) > 0);
  running.kill('SIGTERM');
  expect((await running.ended).exitCode).toBe(143);
  const pid = await pidIn(place);
  await until(() => !isRunning(pid));
});
