import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, describe, expect, test } from 'vitest';
import { until } from '../../cli/program.ts';
import { ACCESSION } from '../../program/place.ts';
import {
  areThere,
  folder,
  installPackage,
  MAJORS,
  nodeOf,
  type Program,
  packageOn,
  ROOT,
  remove,
  userOf,
} from './programs.ts';

// What somebody gets who has nothing of the project: the package on each Node.
const below = await folder();
afterAll(() => remove(below));
const prefix = await installPackage(below);
const own = Number(process.versions.node.split('.')[0]);
const majors = areThere ? MAJORS : [own];

const programs: readonly (readonly [string, () => Program | Promise<Program>])[] = [
  ...majors.map((major) => [`the package on Node ${major}`, () => packageOn(nodeOf(major), prefix)] as const),
];
const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));

test('npm puts the program and all pages of the manual where shells and man look', async () => {
  expect(await readdir(join(prefix, 'bin'))).toEqual(['filings']);
  for (const section of ['1', '5']) {
    const shipped = (await readdir(join(ROOT, 'man'))).filter((name) => name.endsWith(section));
    expect((await readdir(join(prefix, `share/man/man${section}`))).sort()).toEqual(shipped.sort());
  }
});

describe.each(programs)('%s', (_, made) => {
  // Each is made once, by the first test that wants it.
  let program: Promise<Program> | undefined;
  const user = async () => {
    program ??= Promise.resolve(made());
    return userOf(await program);
  };

  test('says its version, and leaves nothing behind', async () => {
    const { said, home } = await user();
    expect(await said('--version')).toBe(`filings ${version}\n`);
    expect((await readdir(home)).filter((entry) => entry !== 'work')).toEqual([]);
  });

  test('has help and the pages of the manual', async () => {
    const { said } = await user();
    expect(await said('download', '-h')).toContain('filings download');
  });

  test('has the completions, and knows the names of a filing’s files', async () => {
    const { said, filings } = await user();
    for (const shell of ['bash', 'zsh', 'fish']) {
      const script = await readFile(join(ROOT, `completions/filings.${shell}`), 'utf8');
      expect(await said('completion', shell)).toBe(script);
      // Not at hand: the whole program.
      expect(await said('completion', shell, '--quiet')).toBe(script);
    }
    const words = ['--sandbox', 'download', ACCESSION, ''];
    let names = '';
    await until(async () => {
      // It gives up on a service that is not in time, and ends at once then.
      names = (await filings(['__complete', '--', ...words])).stdout;
      return names !== '';
    });
    expect(names.split('\n')).toContain('primary.htm');
  });

  test('downloads the samples from its sandbox, with its config file', async () => {
    const { said, read, home } = await user();
    await said('config', 'set', 'base-url', 'https://api.example.com');
    const samples = join(ROOT, 'samples');
    for (const accession of await readdir(samples)) {
      const names = (await readdir(join(samples, accession))).sort();
      expect((await said('--sandbox', 'list', accession)).trim().split('\n')).toEqual(names);
      await said('--sandbox', '--quiet', 'download', accession, '--all');
      for (const file of names) {
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
    await writeFile(join(path, 'got/large.bin'), 'other');
    expect((await filings(['verify', 'got'])).exitCode).toBe(9);
    kill('SIGTERM');
    expect((await ended).exitCode).toBe(0);
  });

  test('says no more under NODE_OPTIONS and NODE_EXTRA_CA_CERTS', async () => {
    const { filings, path } = await user();
    await writeFile(join(path, 'ca.pem'), rootCertificates[0] ?? '');
    const env = { NODE_OPTIONS: '--max-old-space-size=500', NODE_EXTRA_CA_CERTS: 'ca.pem' };
    const { exitCode, stderr } = await filings(['--sandbox', 'list', ACCESSION], env);
    expect([exitCode, stderr]).toEqual([0, '']);
  });

  test('makes a key, signs with it, verifies', async () => {
    const { said } = await user();
    await said('token', 'keygen', '--alg', 'ES256', '--out', 'private.pem', '--public', 'public.pem', '--quiet');
    const token = (await said('token', 'sign', '--key', 'private.pem', '--sub', 'alice')).trim();
    expect(await said('token', 'verify', token, '--key', 'public.pem')).toContain('alice');
  });
});
