import { expect, test } from 'vitest';
import { workplace } from './run.ts';

test('the program runs in this process: its status, its stdout, its stderr, its files', async () => {
  const place = await workplace();
  const { exitCode, stdout, stderr } = await place.filings([
    '--sandbox',
    'download',
    '0001234567-24-000001',
    'primary.htm',
  ]);
  expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 0, stdout: '' });
  expect(stderr).toContain('primary.htm');
  expect(await place.names()).toEqual(['primary.htm']);
});
