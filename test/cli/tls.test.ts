import { readFile } from 'node:fs/promises';
import type { TlsOptions } from 'node:tls';
import { expect, test } from 'vitest';
import { sendFile } from '../servers/answers.ts';
import { certificatePath, tlsWith } from '../servers/certificates.ts';
import { scripted } from '../servers/scripted.ts';
import { ACCESSION, serviceAt, workplace } from './program.ts';

// Node reads NODE_EXTRA_CA_CERTS when it starts, and each Node has its own OpenSSL with its own errors.
const FILE = Buffer.from('a file');
const TRUSTED = { NODE_EXTRA_CA_CERTS: certificatePath('own-name') };

/** Servers that demand a certificate of the client. */
const demanding: TlsOptions = { ...tlsWith('own-name'), requestCert: true, rejectUnauthorized: true };
const outdated: TlsOptions = {
  ...tlsWith('own-name'),
  minVersion: 'TLSv1',
  maxVersion: 'TLSv1.1',
  ciphers: 'DEFAULT:@SECLEVEL=0',
};
test.each<[what: string, server: TlsOptions, env: Record<string, string>, words: RegExp]>([
  [
    'no trust although checks are disabled',
    tlsWith('own-name'),
    { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    /refused: self/,
  ],
  [
    'a certificate for another name',
    tlsWith('other-name'),
    { NODE_EXTRA_CA_CERTS: certificatePath('other-name') },
    /refused: .*altnames/,
  ],
  [
    'an authority in DER',
    tlsWith('own-name'),
    { NODE_EXTRA_CA_CERTS: 'own.der' },
    /NODE_EXTRA_CA_CERTS does not help: .*not PEM/,
  ],
  ['only TLS 1.1', outdated, TRUSTED, /supports neither TLS 1\.2 nor TLS 1\.3.*\n.*to enable TLS 1\.2/],
  ['a client certificate demanded in TLS 1.3', demanding, TRUSTED, /demands a client certificate.*\n.*another way in/],
  [
    'a client certificate demanded in TLS 1.2',
    { ...demanding, maxVersion: 'TLSv1.2' },
    TRUSTED,
    /refuses the TLS .*\n.*client certificate/,
  ],
])('exits with 7 after one try and names the cause: %s', async (_, tls, env, words) => {
  const server = await scripted((socket, request) => sendFile(socket, request, FILE, '"v1"'), tls);
  const place = await workplace();
  const pem = `${await readFile(certificatePath('own-name'))}`;
  await place.write('own.der', Buffer.from(pem.replace(/-----.*-----/g, ''), 'base64'));
  const { exitCode, stderr } = await place.filings(['download', ACCESSION, 'a'], { ...serviceAt(server.url), ...env });
  expect([exitCode, await place.names(), server.requests], stderr).toEqual([7, ['own.der'], []]);
  expect(stderr).toMatch(words);
  expect(stderr).not.toContain('retry');
});
