import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished } from 'vitest';
import { test as base, run } from '../cli/program.ts';
import { readReport } from '../program/batch.ts';
import { type Home, KEY, newHome } from './pages/home.ts';
import { cronJobs } from './pages/page.ts';

// The recipes of docs/cron.md. cron would mail any output of a script.
const recipe = (name: string) => readFileSync(join(import.meta.dirname, '../../docs/recipes/cron', name), 'utf8');
const ONE = '0001234567-24-000001\n';

const test = base.extend('home', async () => {
  const home = await newHome();
  onTestFinished(() => home.remove());
  await home.file('filings/mirror.sh', recipe('mirror.sh'), 0o755);
  await home.file('filings/accessions.txt', ONE);
  await home.linkNode();
  return home;
});

/** Runs mirror.sh, or another command of the crontab. */
async function mail(home: Home, env: Record<string, string> = {}, command = '~/filings/mirror.sh') {
  const { exitCode, stdout, stderr } = await home.cron(command, env);
  return { exitCode, output: `${stdout}${stderr}` };
}

/** The reports of all months. */
async function reported(home: Home) {
  const folder = join(home.path, 'filings');
  const names = (await readdir(folder)).filter((name) => /^report-\d{4}-\d{2}\.jsonl$/.test(name)).sort();
  return readReport((await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join(''));
}

test('mirror.sh downloads the filings without output, and requests nothing in the next night', async ({ home }) => {
  expect(await mail(home)).toEqual({ exitCode: 0, output: '' });
  const names = (await reported(home)).files.map(({ file_name }) => file_name);
  expect(names.sort()).toEqual(['ex31-1.htm', 'ex99-1.htm', 'ex99-2.pdf']);
  expect(await mail(home)).toEqual({ exitCode: 0, output: '' });
  expect((await reported(home)).summaries.at(-1)).toMatchObject({ done: 1, requests: 0 });
});

test('the crontab runs mirror.sh, and verifies every byte', async ({ home }) => {
  const jobs = cronJobs(recipe('crontab'));
  const commands = jobs.map((command) => /mirror\.sh|filings verify/.exec(command)?.[0]);
  expect(commands).toEqual(['mirror.sh', 'filings verify']);
  for (const command of jobs) expect(await mail(home, {}, command)).toEqual({ exitCode: 0, output: '' });
  await home.file('filings/exhibits/0001234567-24-000001/ex99-1.htm', 'changed');
  const { exitCode, output } = await mail(home, {}, jobs[1]);
  expect([exitCode, output]).toEqual([9, expect.stringContaining('changed\t')]);
});

test('mirror.sh prints nothing if its request limit is reached', async ({ home }) => {
  const program = await readFile(join(home.path, '.local/bin/filings'), 'utf8');
  await home.file('.local/bin/real', program, 0o755);
  await home.file('.local/bin/filings', '#!/bin/sh\nexec real "$@" --max-requests 2 -j 1\n', 0o755);
  expect(await mail(home)).toEqual({ exitCode: 10, output: '' });
  expect((await reported(home)).summaries).toMatchObject([{ exit_code: 10 }]);
});

test('mirror.sh tries four times if the service does not answer, and then reports it', async ({ home }) => {
  const service = { FILINGS_BASE_URL: 'http://127.0.0.1:1', FILINGS_API_KEY: 'a-key-for-this-host' };
  const { exitCode, output } = await mail(home, { ...service, FILINGS_RETRIES: '0', MIRROR_PAUSE: '0' });
  expect(exitCode).toBe(7);
  expect(output).toMatch(/^filings: exit status 7\nfilings: .*127\.0\.0\.1:1/);
  expect((await reported(home)).summaries.map(({ exit_code }) => exit_code)).toEqual([7, 7, 7, 7]);
});

test.for([
  { what: 'a rejected key', status: 4, words: 'the API key', env: { FILINGS_API_KEY: 'wrong' } },
  { what: 'a missing file', status: 3, words: 'nope.htm', input: '0001234567-24-000001 nope.htm\n' },
  { what: 'an invalid setting', status: 2, words: 'FILINGS_JOBS', env: { FILINGS_JOBS: 'many' } },
])('mirror.sh reports $what at once, with status $status', async ({ status, words, env, input = ONE }, { home }) => {
  await home.file('filings/accessions.txt', input);
  const { exitCode, output } = await mail(home, { ...env, MIRROR_PAUSE: 'no time at all' });
  expect([exitCode, output]).toEqual([status, expect.stringContaining(words)]);
  expect(output).toMatch(new RegExp(`^filings: exit status ${status}\n`));
});

test('mirror.sh does not start while another one runs', async ({ home }) => {
  const locked = 'cd ~/filings && exec 8>lock && flock 8 && ./mirror.sh';
  expect(await mail(home, {}, locked)).toEqual({ exitCode: 0, output: '' });
  expect((await reported(home)).summaries).toEqual([]);
});

test('systemd accepts the service and the timer', async ({ place }) => {
  const units = ['service', 'timer'].map((kind) => `filings-mirror.${kind}`);
  const paths = await Promise.all(units.map((unit) => place.write(unit, recipe(unit), 0o644)));
  const { exitCode, all } = await execa('systemd-analyze', ['verify', ...paths], { all: true, reject: false });
  expect([exitCode, all]).toEqual([0, '']);
});

test('the command of the systemd service mirrors with the key from LoadCredential', async ({ home, place }) => {
  // Lines that end with a backslash are joined.
  const unit = recipe('filings-mirror.service').replace(/\\\n\s*/g, ' ');
  const valuesOf = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);
  await place.write('accessions.txt', ONE);
  const credential = await home.file(`credentials/${valuesOf('LoadCredential')[0]?.split(':')[0]}`, KEY, 0o400);
  const unitsOwn = Object.fromEntries(valuesOf('Environment').map((pair) => pair.split(/=(.*)/s)));
  expect(Object.keys(unitsOwn).sort()).toEqual(['FILINGS_BASE_URL', 'PATH']);
  const PATH = `${join(home.path, '.local/bin')}:${unitsOwn.PATH}`;
  const env = { ...home.env, ...unitsOwn, PATH, CREDENTIALS_DIRECTORY: join(credential, '..') };
  // systemd expands no patterns. These words need no quoting.
  const command = ['-fc', valuesOf('ExecStart')[0] ?? ''];
  const { exitCode, stdout, stderr } = await run('sh', command, { cwd: place.path, env });
  expect([exitCode, `${stdout}${stderr}`]).toEqual([0, '']);
  const made = ['accessions.txt', 'exhibits', 'exhibits.done', 'failed.txt', 'report.jsonl'];
  expect((await place.names()).sort()).toEqual(made);
});
