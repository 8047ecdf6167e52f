import { readdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { commandIn, pasted } from './pasted.ts';
import { ACCESSION, serve, workplace } from './run.ts';

// Every command in a hint is run as printed, split into words by a real shell.

const OTHER = '0001234567-24-000002';
const PAGE = 'https://www.example.com/Archives/data/1234567/000123456724000001/';

describe('the hint names a command that works', () => {
  test.each<[args: string[], chosen: string, files?: string[]]>([
    [[`${PAGE}primary.htm`], 'primary.htm', ['primary.htm']],
    [[`https://example.com/x/${ACCESSION}/primary.htm`, 'R1.htm'], 'R1.htm', ['R1.htm']],
    [[`${ACCESSION}/primary.htm`], 'primary.htm', ['primary.htm']],
    [[`${ACCESSION}/`], '--all'],
    [[PAGE], '--all'],
    [[`${PAGE}${ACCESSION}-index.htm`], '--all'],
    [[`${PAGE}primary.htm`, '--all'], '--all'],
    [[`${ACCESSION}/primary.htm`, `${ACCESSION}/R1.htm`], 'primary.htm R1.htm', ['R1.htm', 'primary.htm']],
    [[`${PAGE}primary.htm`, `${OTHER}/`, '--all'], `${OTHER} --all`, [ACCESSION, OTHER]],
    [[ACCESSION, OTHER], `${OTHER} --all`, [ACCESSION, OTHER]],
    [[ACCESSION, OTHER, 'primary.htm'], `${OTHER} --include primary.htm`, [ACCESSION, OTHER]],
    [
      [ACCESSION, 'primary.htm', OTHER, '[a]*{b.htm'],
      `${OTHER} --include primary.htm --include \\[a]\\*\\{b.htm`,
      [ACCESSION, OTHER],
    ],
  ])('after download %j', async (args, chosen, files = [ACCESSION]) => {
    const { at, filings, names } = await workplace();
    const more = ['--sandbox', '-d', "it's here", '--api-key', 'typed-key-1'];
    const { exitCode, stdout, stderr } = await filings(['download', ...args, ...more]);
    expect([exitCode, `${stdout}`, await names()]).toEqual([2, '', []]);
    expect(stderr).not.toMatch(/typed-key-1|redacted|api-key/);
    const words = pasted(commandIn(stderr));
    const meant = ['download', ACCESSION, ...chosen.split(' '), '--sandbox', '-d', "it's here"];
    expect([...words].sort()).toEqual(meant.sort());
    const hintRun = await filings(words);
    expect(hintRun.exitCode, hintRun.stderr).toBe(0);
    expect((await readdir(at("it's here"))).sort()).toEqual(files);
  });

  test('after list with the URL of a page', async () => {
    const { filings } = await workplace();
    const { exitCode, stderr } = await filings(['list', PAGE, '--sandbox']);
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/^filings: 'https:.* is not an acc/)]);
    expect(`${(await filings(pasted(commandIn(stderr)))).stdout}`).toContain('primary.htm\n');
  });

  test('without the key and the password of the command line', async () => {
    const { filings } = await workplace();
    const keys = ['--api-key=typed-key-1', '--api-key', 'typed-key-2', '-d', 'x'];
    const url = ['--base-url', 'https://me:pass-1@api.example.com'];
    const { stderr } = await filings(['download', `${ACCESSION}/primary.htm`, ...url, ...keys]);
    const expected = `filings download ${ACCESSION} primary.htm --base-url https://[redacted]@api.example.com -d x`;
    expect(commandIn(stderr)).toBe(expected);
    expect(stderr).not.toMatch(/pass-1|typed-key/);
  });
});

describe('the hint has the config file and the profile of the run', () => {
  const FLAGS = ['--config', 'my "own" config.json', '--profile', "it's"];

  async function setUp(profile: (url: string) => object) {
    const { url } = await serve(['--api-key', 'a-key-1234']);
    const place = await workplace();
    await place.write('my "own" config.json', JSON.stringify({ profiles: { "it's": profile(url) } }));
    return { url, ...place };
  }

  test('if base URL and key are missing', async () => {
    const { filings, url } = await setUp(() => ({}));
    const list = () => filings(['list', ACCESSION, ...FLAGS]);
    const noUrl = await list();
    expect(noUrl.exitCode).toBe(2);
    const setUrl = pasted(commandIn(noUrl.stderr).replace(/\bURL\b/, url));
    expect((await filings(setUrl)).exitCode).toBe(0);
    const noKey = await list();
    expect(noKey.exitCode).toBe(4);
    const setKey = pasted(commandIn(noKey.stderr, /; or try/));
    expect((await filings(setKey, {}, { input: 'a-key-1234\n' })).exitCode).toBe(0);
    expect(await list()).toMatchObject({ exitCode: 0 });
  });

  test('after a 404, for a listing at the same service', async () => {
    const { filings } = await setUp((baseUrl) => ({ baseUrl }));
    const env = { FILINGS_API_KEY: 'a-key-1234' };
    const { exitCode, stderr } = await filings(['download', ACCESSION, 'no.htm', ...FLAGS], env);
    expect([exitCode, stderr]).toEqual([5, expect.not.stringContaining('a-key-1234')]);
    expect(`${(await filings(pasted(commandIn(stderr)), env)).stdout}`).toContain('primary.htm\n');
  });
});

test('serve prints its key and a command that works when pasted', async () => {
  const { url, log } = await serve();
  expect(log()).toBe(
    `the key is sandbox-key\ntry it: filings list ${ACCESSION} --base-url ${url} --api-key sandbox-key\n`,
  );
  const { exitCode, stdout } = await (await workplace()).filings(pasted(commandIn(log())));
  expect([exitCode, `${stdout}`]).toEqual([0, expect.stringContaining('primary.htm\n')]);
});

test('serve DIRECTORY names a filing of the directory, or warns that it has none', async () => {
  const { filings, write, at } = await workplace();
  await write('mirror/0009999999-24-000008/.part', 'not served');
  await write('mirror/0009999999-24-000009/own.htm', 'x');
  const { log } = await serve([at('mirror')]);
  const { exitCode, stdout } = await filings(pasted(commandIn(log())));
  expect([exitCode, `${stdout}`]).toEqual([0, 'own.htm\n']);
  await write('empty/0009999999-24-000008/.part', 'not served');
  const warning = 'filings: warning: no filings found: files must be laid out as DIRECTORY/ACCESSION/FILE\n';
  expect((await serve([at('empty')])).log()).toBe(`the key is sandbox-key\n${warning}`);
});
