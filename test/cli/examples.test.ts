import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/catalogue.ts';
import { commandPlaces, programSpec } from '../../src/help/program.ts';
import { ACCESSION, BIN, NODE, started, until } from './program.ts';

// Every example of every help runs here as it stands, in a folder that has what examples speak of.
const CONFIG = {
  baseUrl: 'https://api.example.com',
  apiKey: 'a-key-for-examples',
  jobs: 2,
  profiles: { test: { baseUrl: 'https://test.example.com' } },
};
const PREPARE = `
  filings token keygen --alg ES256 --out private.pem --public public.pem
  filings token keygen --alg HS256 --out secret
  filings token sign --key private.pem > token.txt
  printf '%s\\n' ${ACCESSION} 0001234567-24-000002 > accessions.txt
  filings download --sandbox -q ${ACCESSION} --all --checksums -d exhibits
  filings download --sandbox -q -i accessions.txt --all --checksums -d mirror
  mkdir -p ~/.local/share/bash-completion/completions ~/.zfunc ~/.config/fish/completions
  for editor in vi nano; do printf '#!/bin/sh\\n' > bin/$editor; chmod +x bin/$editor; done`;

let root = '';
let prepared = '';
const environment = (home: string, env: Record<string, string> = {}) => ({
  PATH: `${join(home, 'bin')}:${process.env.PATH}`,
  HOME: home,
  ...env,
});
const bash = (script: string, home: string, env?: Record<string, string>) =>
  execa('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
    cwd: home,
    env: environment(home, env),
    extendEnv: false,
    // What a question is answered with.
    input: 'a-key-from-stdin\n',
    reject: false,
  });

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'filings-examples-'));
  prepared = join(root, 'prepared');
  await mkdir(join(prepared, 'bin'), { recursive: true });
  await mkdir(join(prepared, '.config/filings'), { recursive: true });
  await writeFile(join(prepared, 'bin/filings'), `#!/bin/sh\nexec '${NODE}' '${BIN}' "$@"\n`, { mode: 0o755 });
  await writeFile(join(prepared, '.config/filings/config.json'), JSON.stringify(CONFIG), { mode: 0o600 });
  const { exitCode, stderr } = await bash(PREPARE, prepared);
  expect(exitCode, stderr).toBe(0);
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function place(): Promise<string> {
  const home = await mkdtemp(join(root, 'example-'));
  await cp(prepared, home, { recursive: true });
  return home;
}

/** As the heading of their examples says. */
const SANDBOX = { FILINGS_SANDBOX: '1' };
const all = [{ path: [] as readonly string[], spec: programSpec(COMMANDS) }, ...commandPlaces(COMMANDS)];
const rows = all.flatMap(({ path, spec: { examples = [], asksService } }) =>
  examples.map(([line]) => ({ help: ['filings', ...path].join(' '), line, env: asksService ? SANDBOX : {} })),
);

describe('an example works as it is written', () => {
  test.concurrent.each(rows.filter(({ help }) => help !== 'filings serve'))('$help: $line', async ({ line, env }) => {
    const home = await place();
    // A key pair is not made over one that is there.
    for (const [, made = ''] of line.matchAll(/--(?:out|public) (\S+)/g)) await rm(join(home, made), { force: true });
    const { exitCode, stderr } = await bash(line, home, env);
    expect(exitCode, stderr).toBe(0);
  });

  test.each(rows.filter(({ help }) => help === 'filings serve'))('$help: $line', async ({ line }) => {
    const home = await place();
    const { stdout, kill, ended } = started(['bash', '-c', `exec ${line}`], { cwd: home, env: environment(home) });
    await until(() => stdout().includes('\n'));
    kill('SIGTERM');
    expect(await ended).toMatchObject({ exitCode: 0, stdout: expect.anything() });
  });
});
