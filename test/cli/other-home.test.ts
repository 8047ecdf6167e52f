import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { accession, startArchive } from '../servers/archive.ts';
import { test as base, copyForOthers, type Workplace } from './program.ts';

/** Root can read any file, so the program runs as another user. */
const AS_OTHERS = process.geteuid?.() === 0 ? 'setpriv --reuid=65534 --regid=65534 --clear-groups' : '';
const CONFIG = '.config/filings/config.json';

/** Runs the program while the config file, or a directory above it, has no permissions. */
const test = base.extend('runAround', async ({ place }: { place: Workplace }) => {
  const program = await copyForOthers(place);
  await place.config({ jobs: 7 });
  const open = ['work', '.config', '.config/filings'];
  for (const folder of open) await chmod(join(place.home, folder), 0o755);
  return async (closed: string, line: string) => {
    await chmod(join(place.home, closed), 0);
    const { exitCode, stdout, stderr } = await place.shell(`exec ${AS_OTHERS} $FILINGS ${line}`, { FILINGS: program });
    await chmod(join(place.home, closed), 0o755);
    return [exitCode, `${stdout}`, stderr];
  };
});

const DENIED = /^2 {2}filings: config file .*\/config\.json: permission denied/;

test.for`
  config                                    | closed               | line                                      | ended
  ${'below a closed directory'}             | ${'.config'}         | ${'config get jobs'}                      | ${/^0 4\n $/}
  ${'in a closed directory'}                | ${'.config/filings'} | ${'config get jobs'}                      | ${/^0 4\n $/}
  ${'that cannot be read'}                  | ${CONFIG}            | ${'config get jobs'}                      | ${DENIED}
  ${'that is named, in a closed directory'} | ${'.config'}         | ${`config get jobs --config ~/${CONFIG}`} | ${DENIED}
`('a config file $config is absent or an error: $ended', async ({ closed, line, ended }, { runAround }) => {
  expect((await runAround(closed, line)).join(' ')).toMatch(ended);
});

base('files go to a directory below one that this user may enter but not read', async ({ place }) => {
  const FILINGS = await copyForOthers(place);
  const { env } = await startArchive({ [accession(1)]: { 'a.htm': 'a' } });
  const [work, mirror] = [join(place.home, 'work'), join(place.home, 'work/m')];
  await mkdir(join(mirror, accession(1)), { recursive: true });
  for (const [path, mode] of [
    [work, 0o755],
    [join(mirror, accession(1)), 0o777],
    [mirror, 0o311],
  ] as const)
    await chmod(path, mode);
  const line = `exec ${AS_OTHERS} $FILINGS download ${accession(1)} --all -d m`;
  const { exitCode, stderr } = await place.shell(line, { ...env, FILINGS });
  await chmod(mirror, 0o755);
  expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/^1 downloaded/)]);
});
