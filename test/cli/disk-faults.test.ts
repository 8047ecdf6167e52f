import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sendFile } from '../servers/answers.ts';
import { startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, serviceAt, workplace } from './program.ts';

test('a file that grows beyond its limit: exit 8, the old file stays, nothing else does', async () => {
  const file = content(3_000_000);
  const server = await startScripted((socket, request) => sendFile(socket, request, file, '"v1"'));
  const place = await workplace();
  await writeFile(join(place.path, 'a.htm'), 'old');
  const line = `ulimit -f 1000; $FILINGS download ${ACCESSION} a.htm --if-exists overwrite`;
  const { exitCode, stderr } = await place.shell(line, serviceAt(server.url));
  await server.close();
  expect(exitCode, stderr).toBe(8);
  expect(stderr).toMatch(/larger than may be written/);
  expect([await place.names(), (await place.read('a.htm')).toString()]).toEqual([['a.htm'], 'old']);
});
