import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { workplace } from './program.ts';

const hasScript = spawnSync('script', ['--version']).status === 0;

test.skipIf(!hasScript)('token inspect asks for the token on a terminal', async () => {
  const { shell } = await workplace();
  const input = 'e30.e30.AA\n';
  const { stdout } = await shell('script -qec "$FILINGS token inspect --json" /dev/null', {}, { input });
  expect(stdout.toString()).toContain('paste the token, then press Enter:');
  expect(stdout.toString()).toContain('"verified":false,"header":{},"claims":{}');
});
