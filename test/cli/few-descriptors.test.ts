import { expect, it } from 'vitest';
import { ACCESSION, workplace } from './program.ts';

it('says so when it has too few descriptors to load its own code', async () => {
  const { shell } = await workplace();
  const told: string[] = [];
  for (let limit = 16; limit <= 28; limit += 1) {
    const line = `ulimit -n ${limit}; exec $FILINGS --sandbox list ${ACCESSION} --retries 0`;
    const { exitCode, killedBy, stderr } = await shell(line);
    // With still fewer Node can't begin, and may crash.
    if (killedBy !== undefined || stderr.startsWith('node:')) continue;
    if (exitCode !== 0) expect([limit, stderr]).toEqual([limit, expect.stringMatching(/^filings: /)]);
    if (exitCode === 8) told.push(stderr);
  }
  expect(told).toContain('filings: too many open files: raise the limit (ulimit -n), or lower --jobs\n');
});
