import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect } from 'vitest';
import { commandNodes } from '../../scripts/reference/command-nodes.ts';
import { COMMANDS, PROGRAM } from '../../src/cli/catalogue.ts';
import { interruptionError } from '../../src/world.ts';
import { pasted } from '../program/pasted.ts';
import { filings } from '../program/run.ts';
import { ACCESSION, BIN, test as base, NODE, run, type Workplace } from './program.ts';

// Runs every example of every help text unchanged, in a home with the files that the examples name.
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
const FILES = {
  'bin/filings': `#!/bin/sh\nexec '${NODE}' '${BIN}' "$@"\n`,
  '.config/filings/config.json': JSON.stringify(CONFIG),
  'accessions.txt': `${ACCESSION}\n0001234567-24-000002\n`,
};
const FOLDERS = [
  ...['bin', '.zfunc', '.local/share/bash-completion/completions'],
  ...['filings', 'fish/completions', 'powershell'].map((name) => `.config/${name}`),
];

/** A command without shell syntax except quotes and one redirection. It runs in this process. */
const PLAIN = /^(filings [^|<>&;$`~]*?)(?: ([<>]) (\S+))?$/;
const ANSWER = 'a-key-from-stdin\n';

async function runIn(home: string, line: string, more: Record<string, string> = {}) {
  const at = { cwd: home, env: { PATH: `${home}/bin:${process.env.PATH}`, HOME: home, ...more } };
  const [, command, sign, file = ''] = PLAIN.exec(line) ?? [];
  if (command === undefined) return run('bash', ['--norc', '-euo', 'pipefail', '-c', line], { ...at, input: ANSWER });
  const path = resolve(home, file.replace('~', home));
  const input = sign === '<' ? await readFile(path) : ANSWER;
  const options = command.startsWith('filings serve') ? untilItPrints() : {};
  const ended = await filings(pasted(command), { ...at, input, ...options });
  if (sign === '>') await writeFile(path, ended.stdout);
  return ended;
}

/** Options that interrupt a run when it prints. */
function untilItPrints() {
  const stop = new AbortController();
  const stdout = new Writable({
    write(_line, _encoding, done) {
      stop.abort(interruptionError('SIGTERM'));
      done();
    },
  });
  return { stdout, interrupt: stop.signal };
}

const prepared = await mkdtemp(join(tmpdir(), 'filings-examples-'));
afterAll(() => rm(prepared, { recursive: true, force: true }));
beforeAll(async () => {
  for (const folder of FOLDERS) await mkdir(join(prepared, folder), { recursive: true });
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(prepared, name), text, { mode: 0o700 });
  for (const line of PREPARE) expect(await runIn(prepared, line)).toMatchObject({ exitCode: 0 });
});

const test = base.extend('home', async ({ place }: { place: Workplace }) => {
  await cp(prepared, place.path, { recursive: true });
  return place.path;
});

/** The environment that the heading of the examples names. */
const SANDBOX = { FILINGS_SANDBOX: '1' };
const rows = [{ path: [] as readonly string[], spec: PROGRAM }, ...commandNodes(COMMANDS)].flatMap(
  ({ path, spec: { examples = [], sendsRequests } }) =>
    examples.map(([line]) => ({ help: ['filings', ...path].join(' '), line, env: sendsRequests ? SANDBOX : {} })),
);
/** Each line once, with the last help text that has it. */
const once = [...new Map(rows.map((row) => [row.line, row])).values()];

test.for(once)('an example of $help works as written: $line', async ({ line, env }, { home }) => {
  // keygen does not overwrite an existing key.
  for (const [, made = ''] of line.matchAll(/--(?:out|public) (\S+)/g)) await rm(join(home, made), { force: true });
  const { exitCode, stderr } = await runIn(home, line, env);
  expect(exitCode, stderr).toBe(0);
});
