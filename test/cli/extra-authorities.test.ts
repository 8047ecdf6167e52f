import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { certificatePath } from '../servers/certificates.ts';
import { ACCESSION, workplace } from './program.ts';

const LIST = ['list', ACCESSION, '--sandbox'] as const;
const BROKEN = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';

test.each<[string, string, string]>([
  ['is not there', 'none.pem', 'no such file'],
  ['is a directory', 'folder', 'not a regular file'],
  ['holds no certificate', 'empty.pem', 'holds no certificate'],
  ['holds something else', 'key.pem', 'holds no certificate'],
  ['holds a broken one', 'broken.pem', 'certificate 2 of 2 cannot be read'],
])('NODE_EXTRA_CA_CERTS that %s is an error of the configuration, before anything else', async (_, name, why) => {
  const place = await workplace();
  const file = join(place.path, name);
  await mkdir(join(place.path, 'folder'));
  await writeFile(join(place.path, 'empty.pem'), '');
  await copyFile(join(import.meta.dirname, '../fixtures/tls/key.pem'), join(place.path, 'key.pem'));
  await writeFile(join(place.path, 'broken.pem'), `${await readFile(certificatePath('own-name'), 'utf8')}${BROKEN}`);
  // The config file is wrong, too: this comes first.
  const env = { NODE_EXTRA_CA_CERTS: file, FILINGS_CONFIG: '/nowhere.json' };
  const text = await place.filings(LIST, env);
  expect(text.exitCode).toBe(2);
  expect(text.stdout.toString()).toBe('');
  expect(text.stderr).toContain(`filings: NODE_EXTRA_CA_CERTS ${file}: ${why}\n  hint: `);
  const json = await place.filings([...LIST, '--error-format', 'json'], { ...env, NODE_EXTRA_CA_CERTS: name });
  expect(json.exitCode).toBe(2);
  // Node's own warning, where it has one, comes before the program runs.
  expect(JSON.parse(json.stderr.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
    error: { code: 'config', exit_code: 2, message: `NODE_EXTRA_CA_CERTS ${file}: ${why}` },
  });
});

test('what needs no connection does not mind', async () => {
  const place = await workplace();
  for (const args of [['--help'], ['--version'], ['list', '--help']]) {
    expect((await place.filings(args, { NODE_EXTRA_CA_CERTS: '/nowhere.pem' })).exitCode).toBe(0);
  }
});

test('one that can be read, and a pipe, which Node has read already', async () => {
  const place = await workplace();
  const own = certificatePath('own-name');
  expect((await place.filings(LIST, { NODE_EXTRA_CA_CERTS: own })).exitCode).toBe(0);
  const piped = await place.shell(`NODE_EXTRA_CA_CERTS=<(cat "$OWN") $FILINGS ${LIST.join(' ')}`, { OWN: own });
  expect(piped.exitCode, piped.stderr).toBe(0);
  const shown = await place.shell(`mkfifo p; cat "$OWN" > p & NODE_EXTRA_CA_CERTS=p $FILINGS ${LIST.join(' ')}`, {
    OWN: own,
  });
  expect(shown.exitCode, shown.stderr).toBe(0);
});
