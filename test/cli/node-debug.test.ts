import { describe, expect, onTestFinished, test } from 'vitest';
import { expectClear } from '../program/clear.ts';
import { head } from '../servers/answers.ts';
import { startScripted } from '../servers/scripted.ts';
import { ACCESSION, serve, workplace } from './program.ts';

const KEY = 'kP3/x+9"q&Z<';
const WAYS = ['authorization', 'header', 'query', 'path', 'basic'] as const;
const keyBy = (way: string, url: string) => ({
  FILINGS_BASE_URL: url,
  FILINGS_API_KEY: KEY,
  FILINGS_KEY_IN: way,
});

describe('NODE_DEBUG', () => {
  // Whatever Node's modules print before the program has its turn: paths of its own files.
  const DEBUG = { NODE_DEBUG: 'http,net,tls,undici,fetch,stream,timer', NODE_DEBUG_NATIVE: 'tls,http2' };

  test('shows neither requests nor keys of a download', async () => {
    const answer = `${head(200, { 'Content-Length': 8, Connection: 'close' })}the file`;
    const server = await startScripted((socket) => void socket.write(answer));
    onTestFinished(() => server.close());
    for (const way of WAYS) {
      const place = await workplace();
      const given = { ...keyBy(way, server.url), ...DEBUG };
      const { exitCode, stderr } = await place.filings(['download', ACCESSION, 'a.htm', '--progress', 'plain'], given);
      expect([exitCode, stderr]).toEqual([0, 'a.htm: 8 B\n']);
    }
  });

  test('shows neither requests nor keys that serve gets', async () => {
    const service = await serve([], { FILINGS_API_KEY: KEY, ...DEBUG });
    const place = await workplace();
    for (const way of WAYS) await place.filings(['list', ACCESSION], keyBy(way, service.url));
    expectClear([KEY], service.log());
    const said = service.log().trimEnd().split('\n');
    expect(said.filter((line) => !/ key=\w+ /.test(line))).toEqual([
      'the key is the one of FILINGS_API_KEY',
      `try it: filings list ${ACCESSION} --base-url ${service.url}`,
    ]);
  });
});
