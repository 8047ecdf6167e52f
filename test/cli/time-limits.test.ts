import { describe, expect, onTestFinished, test } from 'vitest';
import { longEnough } from '../patience.ts';
import { head } from '../servers/answers.ts';
import { type Script, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, serviceAt, workplace } from './program.ts';

const FILE = content(3_000_000);

async function scripted(script: Script) {
  const server = await startScripted(script);
  onTestFinished(() => server.close());
  return server;
}

const partly: Script = (socket) => {
  socket.write(head(200, { 'Content-Length': FILE.length, ETag: '"v1"' }));
  socket.write(FILE.subarray(0, 2_000_000));
};

describe('time limits', () => {
  const limited = async (script: Script, ...more: string[]) => {
    const server = await scripted(script);
    const place = await workplace();
    const args = ['download', ACCESSION, 'a.htm', '--retries', '0', ...more];
    return { ...(await place.filings(args, serviceAt(server.url))), names: await place.names() };
  };
  /** A limit within which the body has begun to come. */
  const inTheBody = (flag: string) =>
    longEnough(
      (seconds) => limited(partly, flag, `${seconds}s`),
      ({ names }) => names.length > 0,
    );

  test('the deadline: exit 7, a resumable part stays', async () => {
    const { exitCode, stderr, names } = await inTheBody('--deadline');
    expect(exitCode, stderr).toBe(7);
    expect(stderr).toMatch(/deadline/);
    expect(names).toHaveLength(2);
  });

  test('the deadline cuts a wait short', async () => {
    const wait: Script = (socket) => void socket.write(head(429, { 'Retry-After': 250, 'Content-Length': 0 }));
    const { exitCode, stderr } = await limited(wait, '--deadline', '500ms', '--retries', '3');
    expect(exitCode, stderr).toBe(7);
  });

  test('the idle timeout: a body that stops, exit 7, a resumable part stays', async () => {
    const { exitCode, stderr, names } = await inTheBody('--idle-timeout');
    expect(exitCode, stderr).toBe(7);
    expect(stderr).toMatch(/timed out/);
    expect(names).toHaveLength(2);
  });
});
