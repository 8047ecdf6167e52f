import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, describe, expect, test } from 'vitest';
import { ACCESSION } from '../../program/place.ts';
import { areThere, folder, installPackage, MAJORS, nodeOf, packageOn, ROOT, remove, userOf } from './programs.ts';

// What somebody gets who has nothing of the project: the package on each Node.
const below = await folder();
afterAll(() => remove(below));
const prefix = await installPackage(below);
const own = Number(process.versions.node.split('.')[0]);
const majors = areThere ? MAJORS : [own];

const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));

test('npm puts the program and all pages of the manual where shells and man look', async () => {
  expect(await readdir(join(prefix, 'bin'))).toEqual(['filings']);
  for (const section of ['1', '5']) {
    const shipped = (await readdir(join(ROOT, 'man'))).filter((name) => name.endsWith(section));
    expect((await readdir(join(prefix, `share/man/man${section}`))).sort()).toEqual(shipped.sort());
  }
});

describe.each(majors)('the package on Node %i', (major) => {
  const user = () => userOf(packageOn(nodeOf(major), prefix));

  test('says its version, has its completions, makes a key and signs, and leaves nothing behind', async () => {
    const { said, home } = await user();
    expect(await said('--version')).toBe(`filings ${version}\n`);
    expect(await said('completion', 'bash')).toBe(await readFile(join(ROOT, 'completions/filings.bash'), 'utf8'));
    await said('token', 'keygen', '--alg', 'ES256', '--out', 'private.pem', '--public', 'public.pem', '--quiet');
    const token = (await said('token', 'sign', '--key', 'private.pem', '--sub', 'alice')).trim();
    expect(await said('token', 'verify', token, '--key', 'public.pem')).toContain('alice');
    expect((await readdir(home)).filter((entry) => entry !== 'work')).toEqual([]);
  });

  test('downloads the samples from its sandbox, with its config file, and says no more under Node’s own settings', async () => {
    const { filings, said, path, read, home } = await user();
    await said('config', 'set', 'base-url', 'https://api.example.com');
    const samples = join(ROOT, 'samples');
    await writeFile(join(path, 'ca.pem'), rootCertificates[0] ?? '');
    const env = { NODE_OPTIONS: '--max-old-space-size=500', NODE_EXTRA_CA_CERTS: 'ca.pem' };
    for (const accession of await readdir(samples)) {
      const { exitCode, stderr } = await filings(['--sandbox', '--quiet', 'download', accession, '--all'], env);
      expect([exitCode, stderr]).toEqual([0, '']);
      for (const file of await readdir(join(samples, accession))) {
        expect(await read(join(accession, file))).toEqual(await readFile(join(samples, accession, file)));
      }
    }
    const { $schema } = JSON.parse(await readFile(join(home, '.config/filings/config.json'), 'utf8'));
    expect((await stat(new URL($schema))).isFile()).toBe(true);
  });

  test('serves a large file, hashes it as it comes, verifies it', async () => {
    const { said, serve, filings, path, read } = await user();
    await mkdir(join(path, 'archive', ACCESSION), { recursive: true });
    const bytes = randomBytes(20_000_000);
    await writeFile(join(path, 'archive', ACCESSION, 'large.bin'), bytes);
    const { url, kill, ended } = await serve('archive');
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const service = ['--base-url', url, '--api-key', 'sandbox-key'];
    const wanted = [ACCESSION, 'large.bin', '--sha256', sha256, '--checksums', '-d', 'got'];
    const { exitCode, stderr } = await filings(['download', ...wanted, ...service]);
    expect(exitCode, stderr).toBe(0);
    expect((await read('got/large.bin')).equals(bytes)).toBe(true);
    await said('verify', 'got');
    kill('SIGTERM');
    expect((await ended).exitCode).toBe(0);
  });
});
