import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { head, sendFile } from '../servers/answers.ts';
import { startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, serviceAt, workplace } from './run.ts';

const DOWNLOAD = ['--sandbox', 'download', ACCESSION] as const;

test.each<[string, string, string]>([
  ['no/such/report', 'no/such/report', 'the directory is not there'],
  ['/proc/nope', '/proc/nope', 'the directory is not there'],
])('a report that cannot be written is told with the reason: %s', async (path, shown, why) => {
  const place = await workplace();
  const args = ['download', ACCESSION, 'primary.htm', '--sandbox', '--report', path];
  const { exitCode, stderr } = await place.filings(args);
  expect(exitCode).toBe(8);
  const absolute = shown.startsWith('/') ? shown : join(place.path, shown);
  expect(stderr).toMatch(new RegExp(`^filings: --report ${absolute}: cannot write: ${why}\\n {2}hint: .*--report`));
});

test('a report that cannot be written stops the run, and leaves no litter of the files in flight', async () => {
  const file = content(3_000_000);
  // Three bodies hang while the small one ends.
  const server = await startScripted((socket, request) => {
    if (request.path.includes('small')) return sendFile(socket, request, file.subarray(0, 1000), '"v1"');
    socket.write(head(200, { 'Content-Length': file.length }));
    socket.write(file.subarray(0, 1_000_000));
  });
  onTestFinished(() => server.close());
  const place = await workplace();
  const args = ['download', ACCESSION, 'big1', 'big2', 'big3', 'small', '--report', '/dev/full'];
  const { exitCode, stderr } = await place.filings(args, serviceAt(server.url));
  expect(exitCode, stderr).toBe(8);
  expect(await place.names()).toEqual(['small']);
});

test('a body that always breaks at the same byte comes to an end', async () => {
  const file = content(2_500_000);
  // No validator: each try begins anew, and brings 1.5 MB.
  const server = await startScripted((socket) => {
    socket.write(head(200, { 'Content-Length': file.length }));
    socket.end(file.subarray(0, 1_500_000));
  });
  onTestFinished(() => server.close());
  const place = await workplace();
  const got = await place.filings(['download', ACCESSION, 'a', '--retries', '1'], serviceAt(server.url));
  expect(got.exitCode, got.stderr).toBe(9);
  expect(server.requests.length).toBeLessThanOrEqual(3);
});

test('an empty TMPDIR is none', async () => {
  const place = await workplace();
  await writeFile(join(place.path, 'mark'), '');
  const { exitCode, stdout } = await place.filings([...DOWNLOAD, 'primary.htm', '-o', '-', '--spool'], { TMPDIR: '' });
  expect([exitCode, stdout.length > 0]).toEqual([0, true]);
  expect(await place.names()).toEqual(['mark']);
});
