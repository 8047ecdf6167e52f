import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { whole } from '../servers/answers.ts';
import { scripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, proving, serviceAt, test } from './program.ts';

test('exits with 8 and keeps only the old file if the new one exceeds the file size limit', async ({ place }) => {
  const file = content(3_000_000);
  const server = await scripted(whole(file));
  await place.write('a.htm', 'old');
  const line = `ulimit -f 1000; $FILINGS download ${ACCESSION} a.htm --if-exists overwrite`;
  const { exitCode, stderr } = await place.shell(line, serviceAt(server.url));
  expect(exitCode, stderr).toBe(8);
  expect(stderr).toMatch(/larger than allowed/);
  expect([await place.names(), (await place.read('a.htm')).toString()]).toEqual([['a.htm'], 'old']);
});

test('exits with 8 if SHA256SUMS exceeds its limit, and the next run makes the torn line a comment and lists the file', async ({
  place,
}) => {
  const server = await scripted(whole(content(100)));
  // The limit is 1024 bytes.
  const comment = `# ${'x'.repeat(990)}\n`;
  await place.write('SHA256SUMS', comment);
  const line = `$FILINGS download ${ACCESSION} a.htm --checksums`;
  const { exitCode, stderr } = await place.shell(`ulimit -f 1; ${line}`, serviceAt(server.url));
  expect(exitCode, stderr).toBe(8);
  expect(stderr).toMatch(/SHA256SUMS: cannot write: the file is larger than allowed/);
  expect((await place.read('SHA256SUMS')).toString()).toMatch(/^# x+\n[\da-f]{31}$/);
  expect(await place.names()).toEqual(['SHA256SUMS']);
  expect(await place.shell(line, serviceAt(server.url))).toMatchObject({ exitCode: 0 });
  expect((await place.read('SHA256SUMS')).toString()).toMatch(/^# x+\n#[\da-f]{30}\n[\da-f]{64} {2}a\.htm\n$/);
  expect(await place.shell('sha256sum --strict -c SHA256SUMS')).toMatchObject({ exitCode: 0 });
});

/** Shortens the first write that is long enough for a line to 40 bytes. */
const SHORT_WRITE = `const fs = require('node:fs');
const { writeSync } = fs;
fs.writeSync = (fd, bytes, ...rest) => {
  if (bytes.length <= 40) return writeSync(fd, bytes, ...rest);
  fs.writeSync = writeSync;
  return writeSync(fd, bytes, 0, 40);
};`;

test('a line of SHA256SUMS that was written in part becomes a comment, and a whole one follows', async ({ place }) => {
  const file = content(100);
  const server = await scripted(whole(file));
  const env = { ...serviceAt(server.url), ...(await place.hook(SHORT_WRITE)) };
  const { exitCode, stderr } = await place.filings(['download', ACCESSION, 'a.htm', '--checksums'], env);
  expect(exitCode, stderr).toBe(0);
  const hash = createHash('sha256').update(file).digest('hex');
  expect((await place.read('SHA256SUMS')).toString()).toBe(`#${hash.slice(1, 40)}\n${hash}  a.htm\n`);
});

test('reports too many open files if it cannot load its own code', async ({ place }) => {
  const reports: string[] = [];
  // With a lower limit Node cannot start and may crash. With a higher one it has enough descriptors.
  for (let limit = 16; limit <= 28 && (proving || reports.length === 0); limit += 1) {
    const line = `ulimit -n ${limit}; exec $FILINGS --sandbox list ${ACCESSION} --retries 0`;
    const { exitCode, killedBy, stderr } = await place.shell(line);
    if (killedBy !== undefined || stderr.startsWith('node:')) continue;
    if (exitCode !== 0) expect([limit, stderr]).toEqual([limit, expect.stringMatching(/^filings: /)]);
    if (/^filings: too many open files: raise the limit \(ulimit -n\), or lower --jobs\n/.test(stderr))
      reports.push(stderr);
  }
  expect(reports).not.toEqual([]);
});
