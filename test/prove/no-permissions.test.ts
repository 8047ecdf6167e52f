import { chown, readdir } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { copyForOthers, test, type Workplace } from '../cli/program.ts';
import { mountExfat } from './exfat.ts';

// exFAT keeps no permissions: each file has those of the mount. Only root can mount.
const USER = 12_345;
const OLD = '{"retries": 3}\n';
const SECRETS = [
  'config set api-key a-key-1234 --config disk/new.json',
  'token keygen --alg ES256 --out disk/private.pem --public disk/public.pem',
  'token keygen --alg HS256 --out disk/secret',
  'token sign --secret-file hmac --out disk/token',
];

async function mount(place: Workplace, options: string) {
  const { at, path, write } = place;
  await mountExfat(place, options);
  await write('hmac', 's'.repeat(32));
  await write('disk/old.json', OLD);
  for (const name of [path, at('hmac')]) await chown(name, USER, USER);
}

async function expectRefused({ at, read, shell }: Workplace, command: string) {
  const { exitCode, stderr } = await shell(command);
  const message =
    /does not keep its permissions: other users can .* it\n {2}hint: choose a path on another file system\n/;
  expect([exitCode, stderr], command).toEqual([8, expect.stringMatching(message)]);
  expect([await readdir(at('disk')), `${await read('disk/old.json')}`]).toEqual([['old.json'], OLD]);
}

describe.runIf(process.geteuid?.() === 0)('on exFAT, no file is created that the program would refuse', () => {
  test('if others can read it, no file with a secret', async ({ place }) => {
    await mount(place, `umask=022,uid=${USER},gid=${USER}`);
    const as = `setpriv\n--reuid=${USER}\n--regid=${USER}\n--clear-groups\n`;
    const program = await copyForOthers(place);
    const filings = (line: string) => `FILINGS='${program}'; AS='${as}'; $AS$FILINGS ${line}`;
    for (const line of [...SECRETS, 'config set api-key a-key-1234 --config disk/old.json'])
      await expectRefused(place, filings(line));
    for (const line of ['config set retries 4', 'config get retries']) {
      const { exitCode, stderr } = await place.shell(filings(`${line} --config disk/old.json`));
      expect(exitCode, stderr).toBe(0);
    }
  });

  test('if others can write it, not even a config file without a secret', async ({ place }) => {
    await mount(place, 'umask=0');
    for (const line of ['config set retries 4 --config disk/new.json', 'token keygen --alg HS256 --out disk/secret'])
      await expectRefused(place, `$FILINGS ${line}`);
  });
});
