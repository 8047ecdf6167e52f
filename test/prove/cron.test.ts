import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../cli/program.ts';
import { emptyPlace } from '../program/place.ts';
import { type Home, KEY, newHome } from './pages/home.ts';
import { cronJobs } from './pages/page.ts';

// The recipes of docs/cron.md. cron would mail any output of a script.
const recipe = (name: string) => readFileSync(join(import.meta.dirname, '../../docs/recipes/cron', name), 'utf8');
const ONE = '0001234567-24-000001\n';

async function mirrorHome(input = ONE): Promise<Home> {
  const home = await newHome();
  onTestFinished(() => home.remove());
  await home.file('filings/mirror.sh', recipe('mirror.sh'), 0o755);
  await home.file('filings/accessions.txt', input);
  await home.linkNode();
  return home;
}

async function mail(home: Home, env: Record<string, string> = {}, command = '~/filings/mirror.sh') {
  const { exitCode, stdout, stderr } = await home.cron(command, env);
  return { exitCode, output: `${stdout}${stderr}` };
}

/** The lines of the reports of all months. */
async function reported(home: Home): Promise<{ file_name?: string; summary?: { exit_code: number } }[]> {
  const folder = join(home.path, 'filings');
  const names = (await readdir(folder)).filter((name) => /^report-\d{4}-\d{2}\.jsonl$/.test(name)).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const lines = texts.join('').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

test('mirror.sh downloads the filings without output, and requests nothing in the next night', async () => {
  const home = await mirrorHome();
  expect(await mail(home)).toEqual({ exitCode: 0, output: '' });
  const names = (await reported(home)).flatMap(({ file_name }) => file_name ?? []).sort();
  expect(names).toEqual(['ex31-1.htm', 'ex99-1.htm', 'ex99-2.pdf']);
  expect(await mail(home)).toEqual({ exitCode: 0, output: '' });
  expect((await reported(home)).at(-1)).toMatchObject({ summary: { done: 1, requests: 0 } });
});

test('the crontab runs mirror.sh, and verifies every byte', async () => {
  const home = await mirrorHome();
  const jobs = cronJobs(recipe('crontab'));
  const commands = jobs.map((command) => /mirror\.sh|filings verify/.exec(command)?.[0]);
  expect(commands).toEqual(['mirror.sh', 'filings verify']);
  for (const command of jobs) expect(await mail(home, {}, command)).toEqual({ exitCode: 0, output: '' });
  await home.file('filings/exhibits/0001234567-24-000001/ex99-1.htm', 'changed');
  const { exitCode, output } = await mail(home, {}, jobs[1]);
  expect([exitCode, output]).toEqual([9, expect.stringContaining('changed\t')]);
});

test('mirror.sh prints nothing if its request limit is reached', async () => {
  const home = await mirrorHome();
  const program = await readFile(join(home.path, '.local/bin/filings'), 'utf8');
  await home.file('.local/bin/real', program, 0o755);
  await home.file('.local/bin/filings', '#!/bin/sh\nexec real "$@" --max-requests 2 -j 1\n', 0o755);
  expect(await mail(home)).toEqual({ exitCode: 10, output: '' });
  expect((await reported(home)).at(-1)).toMatchObject({ summary: { exit_code: 10 } });
});

test('mirror.sh tries four times if the service does not answer, and then reports it', async () => {
  const home = await mirrorHome();
  const service = { FILINGS_BASE_URL: 'http://127.0.0.1:1', FILINGS_API_KEY: 'a-key-for-this-host' };
  const { exitCode, output } = await mail(home, { ...service, FILINGS_RETRIES: '0', MIRROR_PAUSE: '0' });
  expect(exitCode).toBe(7);
  expect(output).toMatch(/^filings: exit status 7\nfilings: .*127\.0\.0\.1:1/);
  const summaries = (await reported(home)).flatMap(({ summary }) => summary?.exit_code ?? []);
  expect(summaries).toEqual([7, 7, 7, 7]);
});

test.each([
  ['a rejected key', 4, { FILINGS_API_KEY: 'wrong' }, ONE, 'check the API key'],
  ['a missing file', 3, {}, '0001234567-24-000001 nope.htm\n', 'nope.htm of 0001234567-24-000001: 404'],
  ['an invalid setting', 2, { FILINGS_JOBS: 'many' }, ONE, 'FILINGS_JOBS'],
])('mirror.sh reports %s at once, with status %i', async (_, status, env, input, words) => {
  const home = await mirrorHome(input);
  const { exitCode, output } = await mail(home, { ...env, MIRROR_PAUSE: 'no time at all' });
  expect(exitCode).toBe(status);
  expect(output).toMatch(new RegExp(`^filings: exit status ${status}\n`));
  expect(output).toContain(words);
});

test('mirror.sh does not start while another one runs', async () => {
  const home = await mirrorHome();
  const locked = 'cd ~/filings && exec 8>lock && flock 8 && ./mirror.sh';
  expect(await mail(home, {}, locked)).toEqual({ exitCode: 0, output: '' });
  expect(await reported(home)).toEqual([]);
});

test('systemd accepts the service and the timer', async () => {
  const { path } = await emptyPlace();
  const units = ['service', 'timer'].map((kind) => `filings-mirror.${kind}`);
  for (const name of units) await writeFile(join(path, name), recipe(name));
  const { exitCode, all } = await execa('systemd-analyze', ['verify', ...units.map((name) => join(path, name))], {
    all: true,
    reject: false,
  });
  expect([exitCode, all]).toEqual([0, '']);
});

test('the command of the systemd service mirrors with the key from LoadCredential', async () => {
  // Lines that end with a backslash are joined.
  const lines = recipe('filings-mirror.service')
    .replace(/\\\n\s*/g, ' ')
    .split('\n');
  const valuesOf = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}=`)).map((line) => line.slice(name.length + 1));
  const home = await mirrorHome();
  const state = join(home.path, 'state');
  await mkdir(state);
  await writeFile(join(state, 'accessions.txt'), ONE);
  const credential = await home.file(`credentials/${valuesOf('LoadCredential')[0]?.split(':')[0]}`, KEY, 0o400);
  const unitsOwn = Object.fromEntries(valuesOf('Environment').map((pair) => pair.split(/=(.*)/s)));
  expect(Object.keys(unitsOwn).sort()).toEqual(['FILINGS_BASE_URL', 'PATH']);
  const env = {
    ...home.env,
    ...unitsOwn,
    PATH: `${join(home.path, '.local/bin')}:${unitsOwn.PATH}`,
    CREDENTIALS_DIRECTORY: join(credential, '..'),
  };
  // systemd expands no patterns. These words need no quoting.
  const { exitCode, stdout, stderr } = await run('sh', ['-fc', valuesOf('ExecStart')[0] ?? ''], { cwd: state, env });
  expect([exitCode, `${stdout}${stderr}`]).toEqual([0, '']);
  const made = ['accessions.txt', 'exhibits', 'exhibits.done', 'failed.txt', 'report.jsonl'];
  expect((await readdir(state)).sort()).toEqual(made);
});
