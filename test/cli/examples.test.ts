import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandNodes } from '../../scripts/reference/command-nodes.ts';
import { COMMANDS, PROGRAM } from '../../src/cli/catalogue.ts';
import { pasted } from '../program/pasted.ts';
import { filings } from '../program/run.ts';
import { ACCESSION, BIN, NODE, started, until } from './program.ts';

// Runs every example of every help text unchanged, in a folder with the files that the examples name.
const CONFIG = {
  baseUrl: 'https://api.example.com',
  apiKey: 'a-key-for-examples',
  jobs: 2,
  profiles: { test: { baseUrl: 'https://test.example.com' } },
};
const PREPARE = [
  'filings token keygen --alg ES256 --out private.pem --public public.pem',
  'filings token keygen --alg HS256 --out secret',
  'filings token sign --key private.pem --out token.txt',
  `filings download --sandbox -q ${ACCESSION} --all --checksums -d exhibits`,
  'filings download --sandbox -q -i accessions.txt --all --checksums -d mirror',
];
const FOLDERS = [
  'bin',
  '.config/filings',
  '.config/fish/completions',
  '.config/powershell',
  '.zfunc',
  '.local/share/bash-completion/completions',
];
/** A command without shell syntax except quotes. It runs in this process. */
const PLAIN = /^filings [^|<>&;$`~]*$/;

let root = '';
let prepared = '';
const environment = (home: string, env: Record<string, string> = {}) => ({
  PATH: `${join(home, 'bin')}:${process.env.PATH}`,
  HOME: home,
  ...env,
});
// The input for a prompt.
const input = 'a-key-from-stdin\n';

function run(line: string, home: string, more?: Record<string, string>) {
  const env = environment(home, more);
  if (PLAIN.test(line)) return filings(pasted(line), { cwd: home, env, input });
  const script = ['--norc', '-euo', 'pipefail', '-c', line];
  return execa('bash', script, { cwd: home, env, extendEnv: false, input, reject: false, timeout: 150_000 });
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'filings-examples-'));
  prepared = join(root, 'prepared');
  for (const folder of FOLDERS) await mkdir(join(prepared, folder), { recursive: true });
  await writeFile(join(prepared, 'bin/filings'), `#!/bin/sh\nexec '${NODE}' '${BIN}' "$@"\n`, { mode: 0o755 });
  await writeFile(join(prepared, '.config/filings/config.json'), JSON.stringify(CONFIG), { mode: 0o600 });
  await writeFile(join(prepared, 'accessions.txt'), `${ACCESSION}\n0001234567-24-000002\n`);
  for (const line of PREPARE) {
    const { exitCode, stderr } = await run(line, prepared);
    expect(exitCode, stderr).toBe(0);
  }
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function place(): Promise<string> {
  const home = await mkdtemp(join(root, 'example-'));
  await cp(prepared, home, { recursive: true });
  return home;
}

/** The environment that the heading of the examples names. */
const SANDBOX = { FILINGS_SANDBOX: '1' };
const all = [{ path: [] as readonly string[], spec: PROGRAM }, ...commandNodes(COMMANDS)];
const found = all.flatMap(({ path, spec: { examples = [], asksService } }) =>
  examples.map(([line]) => ({ help: ['filings', ...path].join(' '), line, env: asksService ? SANDBOX : {} })),
);
/** Each line once, with the last help text that has it. */
const rows = [...new Map(found.map((row) => [row.line, row])).values()];

describe('an example works as written:', () => {
  test.concurrent.each(rows.filter(({ help }) => help !== 'filings serve'))('$help: $line', async ({ line, env }) => {
    const home = await place();
    // keygen does not overwrite an existing key.
    for (const [, made = ''] of line.matchAll(/--(?:out|public) (\S+)/g)) await rm(join(home, made), { force: true });
    const { exitCode, stderr } = await run(line, home, env);
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
