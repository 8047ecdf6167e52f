import { expect, onTestFinished, test } from 'vitest';
import { head, sendFile } from '../servers/answers.ts';
import { type Script, startScripted } from '../servers/scripted.ts';
import { ACCESSION, serviceAt, workplace } from './run.ts';

const FILE = Buffer.from('a file');

/** A service that is busy at first, `times` times. */
async function busy(times: number) {
  const script: Script = (socket, request) => {
    if (request.index < times) socket.write(head(503, { 'Retry-After': 0, 'Content-Length': 0 }));
    else sendFile(socket, request, FILE, '"v1"');
  };
  const server = await startScripted(script);
  onTestFinished(() => server.close());
  return serviceAt(server.url);
}

const WAIT = /a\.htm: 503 .* \(the service asks to wait\); retry (\d) of \d in \d s/;

test('off a terminal each wait is told in a line as it begins, and the file in the end', async () => {
  const { filings } = await workplace();
  const { stderr, exitCode } = await filings(['download', ACCESSION, 'a.htm'], await busy(2));
  expect(exitCode).toBe(0);
  const lines = stderr.trimEnd().split('\n');
  expect(lines.map((line) => WAIT.exec(line)?.[1])).toEqual(['1', '2', undefined]);
  expect(lines[2]).toBe('a.htm: 6 B');
});

test.each([['--quiet'], ['--progress=none']])(
  '%s leaves out waits, and the error says how many tries there were',
  async (option) => {
    const { filings } = await workplace();
    const args = ['download', ACCESSION, 'a.htm', '--retries', '2', option];
    const { stderr, exitCode } = await filings(args, await busy(9));
    expect(exitCode).toBe(7);
    expect(stderr).not.toContain('asks to wait');
    expect(stderr).toMatch(/^filings: a\.htm of .*: 503 .*; 3 tries\n/);
  },
);

test('a batch tells the waits for its listings, too', async () => {
  const { filings } = await workplace();
  const args = ['download', ACCESSION, '--all', '--retries', '1'];
  const { stderr } = await filings(args, await busy(9));
  expect(stderr).toMatch(new RegExp(`^${ACCESSION}: 503 .*; retry 1 of 1 in \\d s$`, 'm'));
  expect(stderr).toMatch(/the listing of .*: 503 .*; 2 tries/);
});
