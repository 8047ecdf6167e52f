import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { whole } from '../servers/answers.ts';
import { scripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, proving, serviceAt, workplace } from './program.ts';

test('a file that grows beyond its limit: exit 8, the old file stays, nothing else does', async () => {
  const file = content(3_000_000);
  const server = await scripted(whole(file));
  const place = await workplace();
  await writeFile(join(place.path, 'a.htm'), 'old');
  const line = `ulimit -f 1000; $FILINGS download ${ACCESSION} a.htm --if-exists overwrite`;
  const { exitCode, stderr } = await place.shell(line, serviceAt(server.url));
  expect(exitCode, stderr).toBe(8);
  expect(stderr).toMatch(/larger than may be written/);
  expect([await place.names(), (await place.read('a.htm')).toString()]).toEqual([['a.htm'], 'old']);
});

test('too few descriptors to load its own code are told as such', async () => {
  const { shell } = await workplace();
  const told: string[] = [];
  // With still fewer Node can't begin, and may crash; with more it has enough for that.
  for (let limit = 16; limit <= 28 && (proving || told.length === 0); limit += 1) {
    const line = `ulimit -n ${limit}; exec $FILINGS --sandbox list ${ACCESSION} --retries 0`;
    const { exitCode, killedBy, stderr } = await shell(line);
    if (killedBy !== undefined || stderr.startsWith('node:')) continue;
    if (exitCode !== 0) expect([limit, stderr]).toEqual([limit, expect.stringMatching(/^filings: /)]);
    if (/^filings: too many open files: raise the limit \(ulimit -n\), or lower --jobs\n/.test(stderr))
      told.push(stderr);
  }
  expect(told).not.toEqual([]);
});
