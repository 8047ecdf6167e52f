import { readFile } from 'node:fs/promises';
import type { TlsOptions } from 'node:tls';
import { expect } from 'vitest';
import { type Certificate, certificatePath, tlsWith } from '../servers/certificates.ts';
import { scripted } from '../servers/scripted.ts';
import { ACCESSION, serviceAt, test } from './program.ts';

// Node reads NODE_EXTRA_CA_CERTS when it starts, and each Node has its own OpenSSL with its own errors.
const trusting = (name: Certificate) => ({ NODE_EXTRA_CA_CERTS: certificatePath(name) });
const own = tlsWith('own-name');
/** Servers that demand a certificate of the client. */
const demanding: TlsOptions = { ...own, requestCert: true, rejectUnauthorized: true };
const outdated: TlsOptions = { ...own, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' };

test.for`
  what                                          | tls                                        | env                                      | words
  ${'no trust although checks are disabled'}    | ${own}                                     | ${{ NODE_TLS_REJECT_UNAUTHORIZED: '0' }} | ${/certificate: self/}
  ${'a certificate for another name'}           | ${tlsWith('other-name')}                   | ${trusting('other-name')}                | ${/certificate: .*altnames/}
  ${'an authority in DER'}                      | ${own}                                     | ${{ NODE_EXTRA_CA_CERTS: 'own.der' }}    | ${/CERTS does not help: .*not PEM/}
  ${'only TLS 1.1'}                             | ${outdated}                                | ${trusting('own-name')}                  | ${/neither TLS 1\.2 nor TLS 1\.3/}
  ${'a client certificate demanded in TLS 1.3'} | ${demanding}                               | ${trusting('own-name')}                  | ${/requires a client certificate/}
  ${'a client certificate demanded in TLS 1.2'} | ${{ ...demanding, maxVersion: 'TLSv1.2' }} | ${trusting('own-name')}                  | ${/refuses the TLS .*\n.*client certificate/}
`('exits with 7 after one try and names the cause: $what', async ({ tls, env, words }, { place }) => {
  const server = await scripted(() => {}, tls);
  const pem = `${await readFile(certificatePath('own-name'))}`;
  await place.write('own.der', Buffer.from(pem.replace(/-----.*-----/g, ''), 'base64'));
  const { exitCode, stderr } = await place.filings(['download', ACCESSION, 'a'], { ...serviceAt(server.url), ...env });
  expect([exitCode, await place.names(), server.requests], stderr).toEqual([7, ['own.der'], []]);
  expect(stderr).toMatch(words);
  expect(stderr).not.toContain('retry');
});
