import { readdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { ACCESSION } from './place.ts';
import { filings, workplace } from './run.ts';

describe('a wrong command line', () => {
  test.each([
    [['list', '--nonsense', '--error-format=json'], {}],
    [['list', '--nonsense'], { FILINGS_ERROR_FORMAT: 'json' }],
  ])('%j with %j is told as JSON', async (args, env) => {
    const { stderr, exitCode } = await filings(args, { env: env as Record<string, string> });
    expect(exitCode).toBe(2);
    expect(JSON.parse(String(stderr))).toEqual({
      error: { code: 'usage', exit_code: 2, message: '--nonsense: no such option', hint: 'see filings list --help' },
    });
  });

  test.each([
    [['download', ACCESSION, 'primary.htm', '--report=', '--sandbox'], '--report: must be a file'],
    [['download', ACCESSION, '--all', '-d', '', '--sandbox'], '--directory: must be a directory'],
    [['token', 'sign', '--key='], '--key: must be a file'],
  ])('%j: an empty path is not the working directory', async (args, told) => {
    const { stdout, stderr, exitCode } = await filings(args);
    expect({ stdout, exitCode }, String(stderr)).toEqual({ stdout: '', exitCode: 2 });
    expect(stderr).toContain(`filings: ${told}`);
    expect(stderr).toContain('is empty');
  });

  test.each([[['config', 'get', ''], "'': no such setting", "see 'filings help config'"]])(
    '%j names what is not there, and where to look',
    async (args, message, hint) => {
      expect(await filings(args)).toMatchObject({
        exitCode: 2,
        stdout: '',
        stderr: `filings: ${message}\n  hint: ${hint}\n`,
      });
    },
  );

  test.each([
    [['ls', ACCESSION], 'ls: no such command', 'did you mean list?'],
    [['get', ACCESSION], 'get: no such command', 'did you mean download?'],
    [['login'], 'login: no such command', 'did you mean config set api-key?'],
    [['download', ACCESSION, 'x', '--force'], '--force: no such option', 'did you mean --if-exists overwrite?'],
    [['download', ACCESSION, 'x', '-O', 'y'], '-O: no such option', 'did you mean --output PATH?'],
    [['download', ACCESSION, '--dry'], '--dry: no such option', 'did you mean --dry-run?'],
    [['list', ACCESSION, '--force'], '--force: no such option', 'see filings list --help'],
    [['list', ACCESSION, '--timeout', '5s'], '--timeout: no such option', 'did you mean --deadline DURATION?'],
  ])('%j is unknown, and what was meant is named', async (args, message, hint) => {
    expect(await filings(args)).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: `filings: ${message}\n  hint: ${hint}\n`,
    });
  });

  const OTHER = '0001234567-24-000002';
  const URL_OF = 'https://archive.example/data/1/000123456724000001';
  test.each([
    [[ACCESSION, OTHER], `to download all files of both: filings download ${ACCESSION} ${OTHER} --all`],
    [[`${ACCESSION}/`, '-n'], `did you mean: filings download ${ACCESSION} --all -n`],
    [[`${URL_OF}/${ACCESSION}-index.htm`], `did you mean: filings download ${ACCESSION} --all`],
    [[`${URL_OF}/primary.htm`, '--all'], `did you mean: filings download ${ACCESSION} --all`],
  ])('download %j: the command that was meant, which works', async (args, hint) => {
    const { exitCode, stdout, stderr } = await filings(['download', ...args]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(`\n  hint: ${hint}\n`);
    const meant = hint.slice(hint.indexOf('filings ') + 'filings '.length).split(' ');
    expect(await filings([...meant, '--sandbox', '--dry-run'])).toMatchObject({ exitCode: 0 });
  });

  test('18 digits are the accession number, several filings with --all are several, and --limit-rate needs no /s', async () => {
    const { path, filings: inPlace } = await workplace();
    const words = [
      'download',
      '000123456724000001',
      OTHER,
      ACCESSION,
      '--include',
      'primary.*',
      '--limit-rate',
      '100MB',
    ];
    const { exitCode, stderr } = await inPlace([...words, '--layout', '{accession_no}/{file_name}', '--sandbox']);
    expect({ exitCode, files: (await readdir(path, { recursive: true })).sort() }, stderr).toEqual({
      exitCode: 0,
      files: [ACCESSION, `${ACCESSION}/primary.htm`, OTHER, `${OTHER}/primary.htm`].sort(),
    });
  });

  test('never has a key in it', async () => {
    const canary = 'canary-key-12345';
    const lines = [
      ['list', `--api-kye=${canary}`],
      ['list', '--api-key', canary, '--nonsense', '-v'],
      ['list', `-x${canary}`],
      ['list', '--base-url', `https://me:${canary}@x`, '0000000000-00-000000'],
    ];
    for (const args of lines) {
      const { stdout, stderr, exitCode } = await filings(args, { env: { FILINGS_JWT: canary } });
      expect(exitCode, args.join(' ')).toBe(2);
      expect(`${stdout}${stderr}`).not.toContain('canary');
    }
  });

  test.each([
    [{ FORCE_COLOR: '1' }, [], true],
    [{ FORCE_COLOR: '1' }, ['--color=never'], false],
    [{}, ['--color', 'always'], true],
  ])('with %j and %j it is coloured: %s', async (env, args, coloured) => {
    const { stderr } = await filings(['list', '--nonsense', ...args], { env: env as Record<string, string> });
    expect(String(stderr).includes('\x1b[')).toBe(coloured);
  });
});

describe('a variable of the program that nothing reads', () => {
  const env = { FILINGS_JBOS: '2', FILINGS_MIN_FREE: '', FILINGS_ZZZ: '1', FILINGS_JOBS: '3' };
  const [near, far] = [
    'FILINGS_JBOS is not used: did you mean FILINGS_JOBS?',
    "FILINGS_ZZZ is not used: see 'filings help environment'",
  ];

  test.each<[string[], string]>([
    [['config', 'get', 'jobs'], `filings: warning: ${near}\nfilings: warning: ${far}\n`],
    [['config', 'get', 'jobs', '--quiet'], ''],
    [['--version'], ''],
    [['__complete', '--', 'x'], ''],
  ])('is warned of with the nearest name, and the command runs: %j', async (args, stderr) => {
    expect(await filings(args, { env })).toMatchObject({ exitCode: 0, stderr });
  });
});
