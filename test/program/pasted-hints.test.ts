import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandIn, pasted } from './pasted.ts';
import { ACCESSION, serve, workplace } from './run.ts';

// Every command that a hint names is run as it is printed, split by a real shell.

const URL_OF_FILE = 'https://www.example.com/Archives/data/1234567/000123456724000001/primary.htm';

describe('the command that was meant', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['a pasted URL', [URL_OF_FILE], ['primary.htm']],
    [
      'a URL with dashes in its number, and a file',
      [URL_OF_FILE.replace('000123456724000001', ACCESSION), 'R1.htm'],
      ['R1.htm'],
    ],
    ['a path', [`${ACCESSION}/primary.htm`], ['primary.htm']],
  ])('%s', async (_, args, files) => {
    const place = await workplace();
    const first = await place.filings([
      'download',
      ...args,
      '--sandbox',
      '-d',
      "it's here",
      '--api-key',
      'typed-key-1',
    ]);
    expect([first.exitCode, (await place.names()).length]).toEqual([2, 0]);
    expect(first.stderr).not.toMatch(/typed-key-1|redacted|api-key/);
    const again = await place.filings(pasted(commandIn(first.stderr)));
    expect(again.exitCode, commandIn(first.stderr) + again.stderr).toBe(0);
    expect(await place.names()).toEqual(["it's here"]);
    for (const file of files) expect((await place.read(`it's here/${file}`)).length).toBeGreaterThan(0);
  });

  test('the page of a whole filing', async () => {
    const place = await workplace();
    const page = URL_OF_FILE.replace('primary.htm', '');
    const { stderr } = await place.filings(['download', page, '--sandbox']);
    expect(commandIn(stderr)).toBe(`filings download ${ACCESSION} --all --sandbox`);
    expect((await place.filings(pasted(commandIn(stderr)))).exitCode).toBe(0);
    const listed = await place.filings(['list', page, '--sandbox']);
    expect([listed.exitCode, listed.stderr]).toEqual([2, expect.stringMatching(/^filings: 'https:.* is not an acc/)]);
    expect((await place.filings(pasted(commandIn(listed.stderr)))).stdout.toString()).toContain('primary.htm\n');
  });
});

test('what was typed is said again without a password that stands in it', async () => {
  const { filings } = await workplace();
  const flags = [
    '--base-url',
    'https://me:pass-1@api.example.com',
    '--api-key=typed-key-1',
    '--api-key',
    'typed-key-2',
  ];
  const { stderr } = await filings(['download', `${ACCESSION}/primary.htm`, ...flags, '-d', 'x']);
  expect(commandIn(stderr)).toBe(
    `filings download ${ACCESSION} primary.htm --base-url https://[redacted]@api.example.com -d x`,
  );
  expect(stderr).not.toMatch(/pass-1|typed-key/);
});

describe('what mends the settings', () => {
  const FLAGS = ['--config', 'my "own" config.json', '--profile', "it's"];

  test('a base URL and a key that are missing: config set, into this run’s file and profile', async () => {
    const { url } = await serve(['--api-key', 'a-key-1234']);
    const place = await workplace();
    await writeFile(join(place.path, 'my "own" config.json'), JSON.stringify({ profiles: { "it's": {} } }), {
      mode: 0o600,
    });
    const noUrl = await place.filings(['list', ACCESSION, ...FLAGS]);
    expect(noUrl.exitCode).toBe(2);
    const setUrl = pasted(commandIn(noUrl.stderr).replace(/\bURL\b/, url));
    expect((await place.filings(setUrl)).exitCode).toBe(0);
    const noKey = await place.filings(['list', ACCESSION, ...FLAGS]);
    expect(noKey.exitCode).toBe(4);
    const setKey = pasted(commandIn(noKey.stderr, / asks for it/));
    expect((await place.filings(setKey, {}, { input: 'a-key-1234\n' })).exitCode).toBe(0);
    const { exitCode, stderr } = await place.filings(['list', ACCESSION, ...FLAGS]);
    expect(exitCode, stderr).toBe(0);
  });

  test('a 404: the listing, at the same service', async () => {
    const { url } = await serve(['--api-key', 'a-key-1234']);
    const place = await workplace();
    const config = join(place.path, 'my config.json');
    await writeFile(config, JSON.stringify({ profiles: { "it's": { baseUrl: url } } }), { mode: 0o600 });
    const env = { FILINGS_API_KEY: 'a-key-1234' };
    const { exitCode, stderr } = await place.filings(
      ['download', ACCESSION, 'no.htm', '--profile', "it's", '--config', config],
      env,
    );
    expect(exitCode, stderr).toBe(5);
    expect(stderr).not.toContain('a-key-1234');
    const { stdout } = await place.filings(pasted(commandIn(stderr)), env);
    expect(stdout.toString()).toContain('primary.htm\n');
  });
});

describe('serve introduces itself', () => {
  test('the published key, and a command that works as it is printed', async () => {
    const { url, log } = await serve();
    expect(log()).toBe(
      `the key is sandbox-key\ntry it: filings list ${ACCESSION} --base-url ${url} --api-key sandbox-key\n`,
    );
    const place = await workplace();
    const { exitCode, stdout } = await place.filings(pasted(commandIn(log())));
    expect([exitCode, stdout.toString()]).toEqual([0, expect.stringContaining('primary.htm\n')]);
  });
});
