import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../cli/program.ts';
import { newHome } from '../pages/home.ts';
import { recipe } from './recipes.ts';

const SERVICE = recipe('filings-mirror.service');
const TIMER = recipe('filings-mirror.timer');

/** What systemd says of units, their texts by their names; nothing when it takes them. */
async function verify(
  units: Readonly<Record<string, string>>,
): Promise<{ exitCode: number | undefined; said: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'filings-units-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const paths = Object.keys(units).map((name) => join(folder, name));
  for (const [name, text] of Object.entries(units)) await writeFile(join(folder, name), text);
  const { exitCode, all } = await execa('systemd-analyze', ['verify', ...paths], { all: true, reject: false });
  return { exitCode, said: all };
}

test('systemd takes service and timer', async () => {
  const units = { 'filings-mirror.service': SERVICE, 'filings-mirror.timer': TIMER };
  expect(await verify(units)).toEqual({ exitCode: 0, said: '' });
});

/** All values of a setting, lines that end in a backslash joined. */
function valuesOf(name: string): readonly string[] {
  const lines = SERVICE.replace(/\\\n\s*/g, ' ').split('\n');
  return lines.filter((line) => line.startsWith(`${name}=`)).map((line) => line.slice(name.length + 1));
}

test('the command of the service mirrors, with the key that systemd hands over', async () => {
  const home = await newHome();
  onTestFinished(() => home.remove());
  const state = join(home.path, 'state');
  await mkdir(state);
  await writeFile(join(state, 'accessions.txt'), '0001234567-24-000001\n');
  const [id] = valuesOf('LoadCredential').map((value) => value.split(':')[0]);
  const credential = await home.file(`credentials/${id}`, home.key, 0o400);
  const [command = ''] = valuesOf('ExecStart');
  const unitsOwn = Object.fromEntries(valuesOf('Environment').map((pair) => pair.split(/=(.*)/s)));
  expect(Object.keys(unitsOwn).sort()).toEqual(['FILINGS_BASE_URL', 'PATH']);
  await home.linkNode();
  const env = {
    PATH: `${join(home.path, '.local/bin')}:${unitsOwn.PATH}`,
    FILINGS_BASE_URL: home.serviceUrl,
    CREDENTIALS_DIRECTORY: join(credential, '..'),
  };
  // As systemd, which expands no globs; these words need no quoting.
  const { exitCode, stdout, stderr } = await run('sh', ['-fc', command], { cwd: state, env });
  expect(`${stdout}${stderr}`).toBe('');
  expect(exitCode).toBe(0);
  const made = ['accessions.txt', 'exhibits', 'exhibits.done', 'failed.txt', 'report.jsonl'];
  expect((await readdir(state)).sort()).toEqual(made);
});
