import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream, openSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { filings } from '../program/run.ts';
import { ACCESSION, test as base, HELD_CLOCK, type Workplace } from './program.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const DOWNLOAD = `--sandbox download ${ACCESSION}`;

/** Workplaces with a FIFO, and with a directory whose findings exceed the buffer of a pipe. */
const test = base
  .extend('fifo', async ({ place }: { place: Workplace }) => {
    await promisify(execFile)('mkfifo', ['-m', '600', place.at('fifo')]);
    return place;
  })
  .extend('findings', async ({ place }: { place: Workplace }) => {
    const missing = Array.from({ length: 6000 }, (_, index) => `${'0'.repeat(64)}  f${index}\n`);
    await place.write('all/SHA256SUMS', missing.join(''));
    await place.write('odd/SHA256SUMS', `${sha256('')}  empty\n`);
    for (const name of ['empty', 'unlisted']) await place.write(`odd/${name}`, '');
    await mkdir(place.at('unread'));
    await symlink('../odd/SHA256SUMS', place.at('unread/SHA256SUMS'));
    return place;
  });

const STOPPED =
  /^filings: verify: 0 of \d+ files match .*; stopped, because the reader of stdout closed it\n {2}hint: .*\n$/;

test.for`
  line                                                         | status | prints
  ${`--sandbox list ${ACCESSION}`}                             | ${0}   | ${/^$/}
  ${'--help'}                                                  | ${0}   | ${/^$/}
  ${`${DOWNLOAD} primary.htm R1.htm ex99-1.htm -q --report -`} | ${141} | ${/^$/}
  ${`${DOWNLOAD} primary.htm -q -n`}                           | ${0}   | ${/^$/}
  ${`${DOWNLOAD} primary.htm -q -n --report -`}                | ${141} | ${/^$/}
  ${'verify odd -q'}                                           | ${141} | ${/^$/}
  ${'verify unread odd -q'}                                    | ${141} | ${/^filings: unread.* it is a symbolic link\n.*\n$/}
  ${'verify all -q'}                                           | ${9}   | ${STOPPED}
  ${'verify all -q --json'}                                    | ${9}   | ${STOPPED}
`('$line exits with $status if its pipe is closed', async ({ line, status, prints }, { findings }) => {
  const { stdout, stderr } = await findings.shell(`$FILINGS ${line} | true; echo "\${PIPESTATUS[0]}"`);
  expect([`${stdout}`, stderr]).toEqual([`${status}\n`, expect.stringMatching(prints)]);
});

const FULL = /^filings: stdout: cannot write: the disk is full\n/m;

test('exits with 8 if stdout is on a full disk', async ({ place }) => {
  const { exitCode, stderr } = await place.shell('exec $FILINGS --version > /dev/full');
  expect([exitCode, stderr]).toEqual([8, expect.stringMatching(FULL)]);
});

test.for(['completion bash', 'config path', 'serve --port 0', 'verify all -q'])(
  "the run of 'filings %s' ends with 8 if stdout is on a full disk",
  async (line, { findings }) => {
    const stdout = createWriteStream('', { fd: openSync('/dev/full', 'w') });
    const { exitCode, stderr } = await filings(line.split(' '), {
      cwd: findings.path,
      env: { HOME: findings.home },
      stdout,
    });
    expect([exitCode, stderr]).toEqual([8, expect.stringMatching(FULL)]);
  },
);

test('a broken stderr does not change the exit status', async ({ place }) => {
  expect((await place.shell('exec $FILINGS nonsense 2> /dev/full')).exitCode).toBe(2);
  const { stdout } = await place.shell('{ { $FILINGS nonsense; echo $? >&3; } 2>&1 >/dev/null | :; } 3>&1');
  expect(`${stdout}`).toBe('2\n');
});

const TELLS_OPEN = `const fs = require('node:fs');
const { openSync } = fs;
fs.openSync = (path, ...rest) => {
  const fd = openSync(path, ...rest);
  if (String(path).endsWith('/fifo')) process.stderr.write('opened the FIFO\\n');
  return fd;
};`;

test.for`
  what          | line
  ${'an input'} | ${'--sandbox list --input fifo'}
  ${'a key'}    | ${'token sign --key fifo'}
`('$what without a writer does not delay the end of the run at the deadline', async ({ line }, { fifo }) => {
  const running = fifo.start([...line.split(' '), '--deadline', '1s'], await fifo.hook(HELD_CLOCK, TELLS_OPEN));
  await running.says('opened the FIFO');
  expect(await fifo.passUntilEnd(running)).toMatchObject({ exitCode: 7, stderr: expect.stringContaining('deadline') });
});

test('a usage error is reported without waiting for a config file that is a FIFO', async ({ fifo }) => {
  const { exitCode, stderr } = await filings(['--config', 'fifo', 'list', '--bogus'], { cwd: fifo.path });
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--bogus')]);
});

test.for(['--sandbox list -i -', 'token inspect'])(
  "'filings %s' fails if stdin is a directory",
  async (line, { place }) => {
    const { exitCode, stderr } = await place.shell(`exec $FILINGS ${line} < .`);
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/directory|EISDIR/)]);
  },
);

test('a working directory that was removed is reported', async ({ place }) => {
  const { exitCode, stderr } = await place.shell(`mkdir gone; cd gone; rmdir ../gone; exec $FILINGS ${DOWNLOAD} --all`);
  expect([exitCode, stderr]).toEqual([8, expect.stringContaining('the working directory no longer exists\n  hint: ')]);
});

test('a working directory whose path is too long is not called removed', async ({ place }) => {
  const env = await place.hook("process.cwd = () => { throw Object.assign(new Error(), { code: 'ERANGE' }); };");
  const { exitCode, stderr } = await place.filings([...DOWNLOAD.split(' '), '--all'], env);
  expect([exitCode, stderr]).toEqual([8, expect.stringMatching(/the working directory cannot be used: .*ERANGE/)]);
});

test.skipIf(process.platform !== 'linux').for`
  where                      | args
  ${'a working directory'}   | ${''}
  ${'a directory in it'}     | ${'-d sub'}
  ${'a report in it'}        | ${'-d .. --report report'}
  ${'a failed list in it'}   | ${'-d .. --failed failed'}
  ${'a file in it'}          | ${'-o file'}
  ${'a directory elsewhere'} | ${"-d ../$'caf\\xe8'/sub"}
`('$where that is not UTF-8 is refused with 8', async ({ args }, { place }) => {
  const script = `mkdir $'caf\\xe9'; cd $'caf\\xe9'; $FILINGS ${DOWNLOAD} primary.htm ${args}`;
  const { exitCode, stderr } = await place.shell(script);
  expect([exitCode, stderr]).toEqual([8, expect.stringMatching(/: the path is not UTF-8.*\n +hint: /)]);
  expect(await place.names()).toEqual(['caf\ufffd']);
});

test('-o of a device that is not there fails at once, as of /dev/tty without a terminal', async ({ place }) => {
  // In a session of its own the program has no terminal.
  const args = [...DOWNLOAD.split(' '), 'primary.htm', '-o', '/dev/tty'];
  const { exitCode, stderr } = await place.filings(args, {}, { detached: true, timeout: 30_000 });
  expect([exitCode, stderr]).toEqual([8, expect.stringContaining('/dev/tty: cannot write: ')]);
});
