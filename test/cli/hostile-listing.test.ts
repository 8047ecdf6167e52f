import { expect, it } from 'vitest';
import { startOneBody } from '../servers/one-body.ts';
import { ACCESSION, serviceAt, workplace } from './program.ts';

const LARGEST = 16 << 20;

const service = async (...body: Parameters<typeof startOneBody>) => {
  const { url, gone } = await startOneBody(...body);
  return { env: serviceAt(url), gone };
};

it('Ctrl-C has its turn while the largest is read', async () => {
  const { start } = await workplace();
  // At its end it turns out to be no JSON: whoever reads it to there exits with 9.
  const values = '{"a":"bcd"},'.repeat(390_000);
  const { env, gone } = await service(`[${values}${' '.repeat(LARGEST - values.length - 2)}x`);
  const run = start(['list', ACCESSION], env);
  // The whole body has arrived.
  await gone;
  run.kill('SIGINT');
  const { exitCode, stdout } = await run.ended;
  expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 130, stdout: '' });
});
