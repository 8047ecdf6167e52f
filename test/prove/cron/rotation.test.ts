import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { ACCESSION, serviceAt, until, workplace } from '../../cli/program.ts';
import { sendFile } from '../../servers/answers.ts';
import { startScripted } from '../../servers/scripted.ts';
import { recipe } from './recipes.ts';

// docs/recipes/cron/logrotate.conf, in the middle of a run.

test('a report that is rotated while a run appends to it loses no line', async () => {
  const place = await workplace();
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = await startScripted(async (socket, request) => {
    const name = new URL(request.path, 'http://h').searchParams.get('file_name') ?? '';
    if (name !== 'first.htm') await released;
    sendFile(socket, request, Buffer.from(name), `"${name}"`);
  });
  onTestFinished(() => server.close());
  const state = join(place.home, 'state');
  await mkdir(state);
  const download = [
    'download',
    ACCESSION,
    'first.htm',
    'second.htm',
    '-d',
    'files',
    '--report',
    join(state, 'report.jsonl'),
  ];
  const rotate = await rotation(place.home, state);

  const running = place.start(download, serviceAt(server.url));
  await until(async () => (await resultsIn(state, 'report.jsonl')).length === 1);
  await rotate();
  const [rotated = ''] = await readdir(state);
  expect(await readdir(state)).toEqual([expect.stringMatching(/^report\.jsonl-\d{4}-\d{2}$/)]);
  release();
  expect((await running.ended).exitCode).toBe(0);
  expect(await resultsIn(state, rotated)).toEqual(['first.htm downloaded', 'second.htm downloaded', 'summary']);
  expect(await readdir(state)).toEqual([rotated]);

  expect((await place.filings(download, serviceAt(server.url))).exitCode).toBe(0);
  expect(await resultsIn(state, 'report.jsonl')).toEqual(['first.htm skipped', 'second.htm skipped', 'summary']);
  expect(await resultsIn(state, rotated)).toHaveLength(3);
});

test('what is no log is not rotated', () => {
  const patterns = recipe('logrotate.conf').match(/^\/.*(?= \{$)/gm);
  expect(patterns).toEqual(['/var/lib/filings/report.jsonl']);
});

/** The recipe for a folder and a user of here, and logrotate made to think that a month has passed. */
async function rotation(home: string, state: string): Promise<() => Promise<void>> {
  const group = (await execa('id', ['-gn'])).stdout;
  const config = join(home, 'logrotate.conf');
  const text = recipe('logrotate.conf')
    .replace('/var/lib/filings', state)
    .replace('su filings filings', `su ${userInfo().username} ${group}`);
  expect(text).toContain(state);
  await writeFile(config, text);
  await chmod(config, 0o644);
  return async () => {
    const { all } = await execa('logrotate', ['--force', '--state', join(home, 'rotated'), config], { all: true });
    expect(all).toBe('');
  };
}

async function resultsIn(folder: string, name: string): Promise<readonly string[]> {
  const text = await readFile(join(folder, name), 'utf8').catch(() => '');
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => {
    const { summary, file_name, result } = JSON.parse(line);
    return summary ? 'summary' : `${file_name} ${result}`;
  });
}
