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

  test('the idle timeout: a byte each 100 ms is a stall, too', async () => {
    const drip: Script = (socket) => {
      socket.write(head(200, { 'Content-Length': 10_000 }));
      const timer = setInterval(() => socket.write('x'), 100);
      socket.on('close', () => clearInterval(timer));
    };
    const { exitCode, stderr } = await limited(drip, '--idle-timeout', '1s');
    expect(exitCode, stderr).toBe(7);
  });

  test('the idle timeout behind a reader that is slow', async () => {
    const server = await scripted(partly);
    const place = await workplace();
    const { exitCode, stderr } = await place.shell(
      `$FILINGS download ${ACCESSION} a.htm -o - --retries 0 --idle-timeout 1s | (sleep 2; cat > out); exit \${PIPESTATUS[0]}`,
      serviceAt(server.url),
    );
    // A beginning is out: exit 9 says so.
    expect(exitCode, stderr).toBe(9);
    const out = await place.read('out');
    expect(out.equals(FILE.subarray(0, out.length))).toBe(true);
  });

  test('the connect timeout covers the TLS handshake', async () => {
    const server = await scripted(() => {});
    const place = await workplace();
    const { exitCode, stderr } = await place.filings(
      ['download', ACCESSION, 'a.htm', '--retries', '0', '--connect-timeout', '500ms'],
      serviceAt(server.url.replace('http:', 'https:')),
    );
    expect(exitCode, stderr).toBe(7);
    expect(stderr).toMatch(/timed out/);
  });
});
