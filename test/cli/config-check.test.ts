import { describe, expect, onTestFinished, test } from 'vitest';
import { verdictsIn } from '../program/config-verdicts.ts';
import { type Certificate, certificatePath, tlsWith } from '../servers/certificates.ts';
import { startScripted } from '../servers/scripted.ts';
import { workplace } from './program.ts';

async function secure(certificate: Certificate) {
  const server = await startScripted((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]');
  }, tlsWith(certificate));
  onTestFinished(() => server.close());
  return server;
}

const check = async (url: string, env: Record<string, string> = {}) => verdictsIn(await workplace(), url, env);

describe('config check tells of the certificate', () => {
  test('a right one', async () => {
    const { url } = await secure('own-name');
    const { exitCode, verdicts } = await check(url, { NODE_EXTRA_CA_CERTS: certificatePath('own-name') });
    expect(verdicts).toMatchObject({ address: 'ok', certificate: 'ok', key: 'ok' });
    expect(exitCode).toBe(0);
  });

  test.each<[string, Certificate, Record<string, string>]>([
    ['an untrusted one', 'own-name', {}],
    ['an expired one', 'expired', { NODE_EXTRA_CA_CERTS: certificatePath('expired') }],
    ['one for another name', 'other-name', { NODE_EXTRA_CA_CERTS: certificatePath('other-name') }],
  ])('%s', async (_what, certificate, env) => {
    const { url } = await secure(certificate);
    const { exitCode, verdicts } = await check(url, env);
    expect(verdicts).toMatchObject({ address: 'ok', certificate: 'wrong', key: 'unknown' });
    expect(exitCode).toBe(7);
  });
});
