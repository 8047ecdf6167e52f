import { expect, onTestFinished, test } from 'vitest';
import { FRAMINGS, framed, sendAndEnd, sendFile } from '../servers/answers.ts';
import { type Certificate, certificatePath, tlsWith } from '../servers/certificates.ts';
import { type Script, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, serviceAt, workplace } from './program.ts';

const FILE = content(2_500_000);

async function secure(script: Script, certificate: Certificate = 'own-name') {
  const server = await startScripted(script, tlsWith(certificate));
  onTestFinished(() => server.close());
  return { server, place: await workplace() };
}

test.each(FRAMINGS)('writes a body (%s) over TLS to a slow reader, and fails without a length', async (framing) => {
  const { server, place } = await secure((socket) => sendAndEnd(socket, framed(FILE, framing).bytes, 'FIN'));
  const line = `set -o pipefail; $FILINGS download ${ACCESSION} a.htm -o - | (sleep 0.3; cat)`;
  const env = { ...serviceAt(server.url), NODE_EXTRA_CA_CERTS: certificatePath('own-name') };
  const { exitCode, stdout, stderr } = await place.shell(line, env);
  expect([exitCode, stdout.equals(FILE)], stderr).toEqual([framing === 'until-close' ? 9 : 0, true]);
});

test.each<[string, Certificate, Record<string, string>, RegExp]>([
  ['with checks disabled', 'own-name', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }, /not from a trusted authority/],
  ['for another name', 'other-name', { NODE_EXTRA_CA_CERTS: certificatePath('other-name') }, /another name/],
])('a certificate is rejected %s', async (_, certificate, env, words) => {
  const { server, place } = await secure((socket, request) => sendFile(socket, request, FILE, '"v1"'), certificate);
  const { exitCode, stderr } = await place.filings(['download', ACCESSION, 'a'], { ...serviceAt(server.url), ...env });
  expect([exitCode, await place.names(), server.requests], stderr).toEqual([7, [], []]);
  expect(stderr).toMatch(words);
});
