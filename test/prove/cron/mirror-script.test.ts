import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Home, newHome } from '../pages/home.ts';
import { cronJobs } from '../pages/page.ts';
import { recipe } from './recipes.ts';

// docs/recipes/cron/mirror.sh, as cron runs it: what it says is what cron sends by mail.

const EXHIBITS = ['ex31-1.htm', 'ex99-1.htm', 'ex99-2.pdf'];

async function mirrorHome(input = '0001234567-24-000001\n'): Promise<Home> {
  const home = await newHome();
  onTestFinished(() => home.remove());
  await home.file('filings/mirror.sh', recipe('mirror.sh'), 0o755);
  await home.file('filings/accessions.txt', input);
  await home.linkNode();
  return home;
}

async function mail(home: Home, env: Record<string, string> = {}, command = '~/filings/mirror.sh') {
  const { exitCode, stdout, stderr } = await home.cron(command, env);
  return { exitCode, said: `${stdout}${stderr}` };
}

/** What the runs have reported, whatever month it is. */
async function reported(home: Home): Promise<{ file_name?: string; summary?: { exit_code: number } }[]> {
  const folder = join(home.path, 'filings');
  const names = (await readdir(folder)).filter((name) => /^report-\d{4}-\d{2}\.jsonl$/.test(name)).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const lines = texts.join('').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

test('mirrors, says nothing, and has nothing to do in the next night', async () => {
  const home = await mirrorHome();
  expect(await mail(home)).toEqual({ exitCode: 0, said: '' });
  expect((await reported(home)).flatMap(({ file_name }) => file_name ?? []).sort()).toEqual(EXHIBITS);
  expect(await mail(home)).toEqual({ exitCode: 0, said: '' });
  expect((await reported(home)).at(-1)).toMatchObject({ summary: { done: 1, requests: 0 } });
});

test('the crontab runs it, and looks at every byte', async () => {
  const home = await mirrorHome();
  const jobs = cronJobs(recipe('crontab'));
  expect(jobs.map((command) => /mirror\.sh|filings verify/.exec(command)?.[0])).toEqual([
    'mirror.sh',
    'filings verify',
  ]);
  for (const command of jobs) expect(await mail(home, {}, command)).toEqual({ exitCode: 0, said: '' });
  await home.file('filings/exhibits/0001234567-24-000001/ex99-1.htm', 'changed');
  const { exitCode, said } = await mail(home, {}, jobs[1]);
  expect(exitCode).toBe(9);
  expect(said).toContain('changed\t');
});

test('a budget that is spent is silence', async () => {
  const home = await mirrorHome();
  const program = await readFile(join(home.path, '.local/bin/filings'), 'utf8');
  await home.file('.local/bin/real', program, 0o755);
  await home.file('.local/bin/filings', '#!/bin/sh\nexec real "$@" --max-requests 2 -j 1\n', 0o755);
  expect(await mail(home)).toEqual({ exitCode: 10, said: '' });
  expect((await reported(home)).at(-1)).toMatchObject({ summary: { exit_code: 10 } });
});

test('a service that is not there is asked four times, then somebody is told', async () => {
  const home = await mirrorHome();
  const { exitCode, said } = await mail(home, {
    FILINGS_BASE_URL: 'http://127.0.0.1:1',
    FILINGS_API_KEY: 'a-key-for-this-host',
    FILINGS_RETRIES: '0',
    MIRROR_PAUSE: '0',
  });
  expect(exitCode).toBe(7);
  expect(said).toMatch(/^filings: exit status 7\nfilings: .*127\.0\.0\.1:1/);
  const summaries = (await reported(home)).flatMap(({ summary }) => summary?.exit_code ?? []);
  expect(summaries).toEqual([7, 7, 7, 7]);
});

test.each([
  ['a key that is refused', 4, { FILINGS_API_KEY: 'wrong' }, '0001234567-24-000001\n', 'filings config check'],
  ['a file that is not there', 3, {}, '0001234567-24-000001 nope.htm\n', 'nope.htm of 0001234567-24-000001: 404'],
  ['a wrong setting', 2, { FILINGS_JOBS: 'many' }, '0001234567-24-000001\n', 'FILINGS_JOBS'],
])('%s is told at once, with status %i', async (_, status, env, input, words) => {
  const home = await mirrorHome(input);
  const { exitCode, said } = await mail(home, { ...env, MIRROR_PAUSE: 'no time at all' });
  expect(exitCode).toBe(status);
  expect(said).toMatch(new RegExp(`^filings: exit status ${status}\n`));
  expect(said).toContain(words);
});

test('one that runs keeps the next one from beginning', async () => {
  const home = await mirrorHome();
  const held = 'cd ~/filings && exec 8>lock && flock 8 && ./mirror.sh';
  expect(await mail(home, {}, held)).toEqual({ exitCode: 0, said: '' });
  expect(await reported(home)).toEqual([]);
});
