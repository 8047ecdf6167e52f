import { chmod } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { type Workplace, workplace } from './program.ts';

/** Root reads whatever it likes: it becomes somebody else. */
const AS_OTHERS = process.geteuid?.() === 0 ? 'setpriv --reuid=65534 --regid=65534 --clear-groups' : '';

/** Runs the program where the config file, or a directory on the way to it, is closed. */
async function listAround(closed: string, line: string) {
  const place: Workplace = await workplace();
  await place.config({ jobs: 7 });
  await chmod(place.home, 0o755);
  await chmod(place.path, 0o755);
  for (const path of ['.config', '.config/filings']) await chmod(`${place.home}/${path}`, 0o755);
  await chmod(`${place.home}/${closed}`, 0);
  const ended = await place.shell(`exec ${AS_OTHERS} $FILINGS ${line}`);
  await chmod(`${place.home}/${closed}`, 0o755);
  return { ...ended, stdout: `${ended.stdout}` };
}

test.each(['.config', '.config/filings'])(
  'a config file behind %s, which is closed, counts as absent',
  async (closed) => {
    const { exitCode, stdout, stderr } = await listAround(closed, 'config get jobs');
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: '4\n', stderr: '' });
  },
);

test.each([
  ['a config file that cannot be read', '.config/filings/config.json', 'config get jobs'],
  [
    'a named config file behind a closed directory',
    '.config',
    'config get jobs --config ~/.config/filings/config.json',
  ],
])('%s is an error', async (_, closed, line) => {
  const { exitCode, stdout, stderr } = await listAround(closed, line);
  expect([exitCode, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^filings: config file .*\/config\.json: permission denied \(EACCES\)\n/);
});
