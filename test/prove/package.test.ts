import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { execa } from 'execa';
import { afterAll, describe, expect, test } from 'vitest';
import { run, started } from '../cli/program.ts';
import { emptyPlace } from '../program/place.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The versions of Node that exist for this machine. */
const { MAJORS, hasPackages, nodeOf } = (await import(join(ROOT, 'scripts/nodes.js'))) as {
  readonly MAJORS: readonly number[];
  readonly hasPackages: boolean;
  nodeOf(major: number): string;
};
/** Whether there is a Node of a major version for this machine. */
const isThere = (major: number) => hasPackages || major === Number(process.versions.node.split('.')[0]);

// Tests the package as a user gets it: packed as it is built, and installed offline with an empty npm cache.
const below = await mkdtemp(join(tmpdir(), 'filings-package-'));
afterAll(() => rm(below, { recursive: true, force: true }));
const prefix = join(below, 'prefix');
const packing = ['pack', '--json', '--ignore-scripts', '--pack-destination', below];
const [{ filename }] = JSON.parse((await execa('npm', packing, { cwd: ROOT })).stdout) as [{ filename: string }];
const installing = ['install', '--global', '--offline', '--prefix', prefix, '--cache', join(below, 'cache')];
const env = { PATH: process.env.PATH ?? '', HOME: below };
await execa('npm', [...installing, join(below, filename)], { cwd: below, extendEnv: false, env });

/** A user with an empty home who has the package on a Node. The environment has only PATH and HOME. */
async function userOf(node: string) {
  const place = await emptyPlace();
  const file = join(prefix, 'bin/filings');
  const options = { cwd: place.path, env: { PATH: `${dirname(node)}:/usr/bin:/bin`, HOME: place.home } };
  /** Returns stdout. Fails unless the exit status is 0. */
  const outputOf = async (args: readonly string[], more: Record<string, string> = {}): Promise<string> => {
    const { exitCode, stdout, stderr } = await run(file, args, { ...options, env: { ...options.env, ...more } });
    expect([exitCode, args.includes('--quiet') ? stderr : ''], stderr).toEqual([0, '']);
    return stdout.toString();
  };
  return { ...place, outputOf, start: (...args: readonly string[]) => started([file, ...args], options) };
}

test('npm installs the program and its manual page into their directories', async () => {
  expect(await readdir(join(prefix, 'bin'))).toEqual(['filings']);
  expect(await readdir(join(prefix, 'share/man/man1'))).toEqual(['filings.1']);
});

describe.each(MAJORS)('the package on Node %i', (major) => {
  const onThisNode = test.skipIf(!isThere(major));
  const user = () => userOf(nodeOf(major));

  onThisNode('prints its version and completions, signs with a new key, and leaves no files in the home', async () => {
    const { outputOf, home } = await user();
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    expect(await outputOf(['--version'])).toBe(`filings ${version}\n`);
    expect(await outputOf(['completion', 'bash'])).toBe(await readFile(join(ROOT, 'completions/filings.bash'), 'utf8'));
    await outputOf('token keygen --alg ES256 --out private.pem --public public.pem --quiet'.split(' '));
    const token = (await outputOf('token sign --key private.pem --sub alice'.split(' '))).trim();
    expect(await outputOf(['token', 'verify', token, '--key', 'public.pem'])).toContain('alice');
    expect((await readdir(home)).filter((entry) => entry !== 'work')).toEqual([]);
  });

  onThisNode('downloads the samples from the sandbox, without messages caused by settings of Node', async () => {
    const { outputOf, read, write, home } = await user();
    await outputOf(['config', 'set', 'base-url', 'https://api.example.com']);
    const samples = join(ROOT, 'samples');
    await write('ca.pem', rootCertificates[0] ?? '');
    const own = { NODE_OPTIONS: '--max-old-space-size=500', NODE_EXTRA_CA_CERTS: 'ca.pem' };
    for (const accession of await readdir(samples)) {
      await outputOf(['--sandbox', '--quiet', 'download', accession, '--all'], own);
      for (const file of await readdir(join(samples, accession))) {
        expect(await read(join(accession, file))).toEqual(await readFile(join(samples, accession, file)));
      }
    }
    const { $schema } = JSON.parse(await readFile(join(home, '.config/filings/config.json'), 'utf8'));
    expect((await stat(new URL($schema))).isFile()).toBe(true);
  });
});
