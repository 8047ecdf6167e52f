import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { head } from '../servers/answers.ts';
import { accession } from '../servers/archive.ts';
import { archivePlace } from './batch.ts';
import { pasted } from './pasted.ts';
import { linesOf } from './run.ts';

const [A, B] = [accession(1), accession(2)];
const FILES = { [A]: { 'a.htm': 'a', 'b c.htm': 'b', 'no.xml': 'x' }, [B]: { 'd.htm': 'd' } };

/** A service that answers with `status` to each of `fails` (`ACCESSION` or `ACCESSION/NAME`) while `isDown` is true. */
async function setUp(fails: readonly string[], status = 503) {
  const service = { isDown: true };
  const place = await archivePlace(FILES, {
    instead(socket, { accession: asked, name }) {
      if (!service.isDown || !fails.includes(name === undefined ? asked : `${asked}/${name}`)) return false;
      socket.write(head(status, { 'Content-Length': 0 }));
      return true;
    },
  });
  await place.write('in', `${A}\n${B} d.htm\n`);
  const download = (words: readonly string[], more: readonly string[] = []) =>
    place.filings([...words, '--retries', '0', ...more], place.archive.env);
  return { ...place, service, download };
}

const commandIn = (stderr: string) => /to retry the failed files: (filings .*)\n$/.exec(stderr)?.[1] ?? '';

test.each<[line: string[], fails: string[], command: string, files: string[]]>([
  [
    [A, 'a.htm', 'b c.htm', '-d', 'mirror'],
    [`${A}/b c.htm`],
    `filings download -i failed.txt -d mirror --layout '{file_name}'`,
    ['mirror/a.htm', 'mirror/b c.htm'],
  ],
  [
    [A, 'a.htm', 'b c.htm'],
    [`${A}/a.htm`],
    `filings download -i failed.txt --layout '{file_name}'`,
    ['a.htm', 'b c.htm'],
  ],
  [
    [A, 'a.htm', 'b c.htm', '-d', "it's here", '--layout', '{accession_no}-{file_name}', '--if-exists', 'overwrite'],
    [`${A}/a.htm`],
    `filings download -i failed.txt -d 'it'\\''s here' --layout '{accession_no}-{file_name}' --if-exists overwrite`,
    [`it's here/${A}-a.htm`, `it's here/${A}-b c.htm`],
  ],
  [
    [
      '-i',
      'in',
      '--include',
      '*.htm',
      '--exclude',
      'a*',
      '-d',
      '-m',
      '--checksums',
      '--done',
      'done',
      '--page-size',
      '9',
    ],
    [A, `${B}/d.htm`],
    `filings download -i failed.txt -d ./-m --include '*.htm' --exclude 'a*' --page-size 9 --checksums --done done`,
    [`-m/${A}/SHA256SUMS`, `-m/${A}/b c.htm`, `-m/${B}/SHA256SUMS`, `-m/${B}/d.htm`],
  ],
  [
    [A, '--all', '--query', 'form=8-K', '--query', 'apikey=typed-key-1'],
    [A, `${A}/a.htm`],
    `filings download -i failed.txt --all --query form=8-K`,
    [`${A}/a.htm`, `${A}/b c.htm`, `${A}/no.xml`],
  ],
])('after failures of %j the last hint is a command that retries them', async (line, fails, command, files) => {
  const { path, service, download, read, names } = await setUp(fails);
  const { exitCode, stderr } = await download(['download', ...line, '--failed', 'failed.txt']);
  expect([exitCode, commandIn(stderr)], stderr).toEqual([7, command]);
  service.isDown = false;
  const before = await names();
  const retried = await download(pasted(command));
  expect(retried.exitCode, retried.stderr).toBe(0);
  const made = (await readdir(path, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(path.length + 1));
  expect(made.filter((name) => !['in', 'failed.txt', 'done', 'report'].includes(name)).sort()).toEqual(files);
  expect(before).toContain('failed.txt');
  expect(linesOf(await read('failed.txt')).length).toBeGreaterThan(0);
});

test('an error keeps its own hint, and the command has the flags that select the service', async () => {
  const { archive, filings, write, service } = await setUp([`${A}/a.htm`], 404);
  const settings = { profiles: { p: { baseUrl: archive.url, apiKey: 'a-key-1234' } } };
  await write('my config.json', JSON.stringify(settings));
  const flags = ['--config', 'my config.json', '--profile', 'p'];
  const { exitCode, stderr } = await filings(['download', A, 'a.htm', '-d', 'x', '--failed', 'failed.txt', ...flags]);
  expect([exitCode, stderr]).toEqual([5, expect.stringMatching(/hint: check the file name, the accession number/)]);
  const command = `filings download -i failed.txt -d x --layout '{file_name}' --config 'my config.json' --profile p`;
  expect(commandIn(stderr)).toBe(command);
  service.isDown = false;
  expect((await filings(pasted(command))).exitCode).toBe(0);
});

test('the hint of an error that stops the run is printed first', async () => {
  const { download } = await setUp([`${A}/a.htm`], 401);
  const { exitCode, stderr } = await download(['download', A, 'a.htm', 'b c.htm', '--failed', 'f', '-j', '1']);
  expect([exitCode, stderr]).toEqual([4, expect.stringContaining('hint: check the API key from FILINGS_API_KEY')]);
  expect(commandIn(stderr)).toBe(`filings download -i f --layout '{file_name}'`);
});

test.each<[what: string, line: string[], fails: string[]]>([
  ['without --failed', [A, 'a.htm', 'b c.htm'], [`${A}/a.htm`]],
  ['with invalid lines only', ['-i', 'bad', '--all', '--failed', 'f'], []],
  ['with --output', [A, 'a.htm', '-o', 'x', '--failed', 'f'], [`${A}/a.htm`]],
  ['with --sha256', [A, 'a.htm', '--sha256', '0'.repeat(64), '--failed', 'f'], []],
])('a run %s prints no command to retry', async (_, line, fails) => {
  const { download, write } = await setUp(fails);
  await write('bad', 'no accession number\n');
  const { exitCode, stderr } = await download(['download', ...line]);
  expect([exitCode > 0, stderr]).toEqual([true, expect.not.stringContaining('to retry')]);
});
