import { chmod } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { type Workplace, workplace } from './program.ts';

/** Root can read any file, so the program runs as another user. */
const AS_OTHERS = process.geteuid?.() === 0 ? 'setpriv --reuid=65534 --regid=65534 --clear-groups' : '';

/** Runs the program while the config file, or a directory above it, has no permissions. */
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
  'a config file below %s counts as absent if the directory is not accessible',
  async (closed) => {
    const { exitCode, stdout, stderr } = await listAround(closed, 'config get jobs');
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: '4\n', stderr: '' });
  },
);

test.each([
  ['a config file that cannot be read', '.config/filings/config.json', 'config get jobs'],
  ['a --config file in a closed directory', '.config', 'config get jobs --config ~/.config/filings/config.json'],
])('%s is an error', async (_, closed, line) => {
  const { exitCode, stdout, stderr } = await listAround(closed, line);
  expect([exitCode, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^filings: config file .*\/config\.json: permission denied \(EACCES\)\n/);
});
