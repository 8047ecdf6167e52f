import { readdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { ACCESSION } from './place.ts';
import { filings, jsonOf, workplace } from './run.ts';

type Variables = Record<string, string>;

describe('an invalid command line', () => {
  test.each<[string[], Variables]>([
    [['list', '--nonsense', '--error-format=json'], {}],
    [['list', '--nonsense'], { FILINGS_ERROR_FORMAT: 'json' }],
  ])('%j with %j is reported as JSON', async (args, env) => {
    const { stderr, exitCode } = await filings(args, { env });
    const error = {
      code: 'usage',
      exit_code: 2,
      message: "unknown option '--nonsense'",
      hint: 'see filings list --help',
    };
    expect([exitCode, jsonOf(stderr)]).toEqual([2, [{ error }]]);
  });

  test.each([
    [['download', ACCESSION, 'primary.htm', '--report=', '--sandbox'], '--report: must be a file'],
    [['download', ACCESSION, '--all', '-d', '', '--sandbox'], '--directory: must be a directory'],
    [['token', 'sign', '--key='], '--key: must be a file'],
  ])('with an empty path is rejected: %j', async (args, message) => {
    const { stdout, stderr, exitCode } = await filings(args);
    expect({ stdout, exitCode }, stderr).toEqual({ stdout: '', exitCode: 2 });
    expect(stderr).toMatch(new RegExp(`^filings: ${message}.*is empty`));
  });

  test.each([
    [['lst', ACCESSION], "unknown command 'lst'", 'did you mean list?'],
    [['list', ACCESSION, '--constructor'], "unknown option '--constructor'", 'see filings list --help'],
    [['config', 'get', ''], "'': no such setting", "see 'filings config list'"],
  ])('with an unknown word gets a hint: %j', async (args, message, hint) => {
    const stderr = `filings: ${message}\n  hint: ${hint}\n`;
    expect(await filings(args)).toEqual({ exitCode: 2, stdout: '', stderr });
  });

  const OTHER = '0001234567-24-000002';
  test('18 digits are an accession number, several may follow each other, and --limit-rate needs no /s', async () => {
    const { path, filings: inPlace } = await workplace();
    const line = `download 000123456724000001 ${OTHER} ${ACCESSION} --include primary.* --limit-rate 100MB --sandbox`;
    const { exitCode, stderr } = await inPlace([...line.split(' '), '--layout', '{accession_no}/{file_name}']);
    expect(exitCode, stderr).toBe(0);
    const files = [ACCESSION, `${ACCESSION}/primary.htm`, OTHER, `${OTHER}/primary.htm`];
    expect((await readdir(path, { recursive: true })).sort()).toEqual(files.sort());
  });

  const CANARY = 'canary-key-12345';
  test.each([
    [['list', `--api-kye=${CANARY}`]],
    [['list', '--api-key', CANARY, '--nonsense', '-v']],
    [['list', `-x${CANARY}`]],
    [['list', '--base-url', `https://me:${CANARY}@x`, '0000000000-00-000000']],
  ])('never shows a key: %j', async (args) => {
    const { stdout, stderr, exitCode } = await filings(args, { env: { FILINGS_JWT: CANARY } });
    expect([exitCode, stdout, stderr]).toEqual([2, '', expect.not.stringContaining('canary')]);
  });

  test.each<[Variables, string[], boolean]>([
    [{ FORCE_COLOR: '1' }, [], true],
    [{ FORCE_COLOR: '1' }, ['--color=never'], false],
    [{}, ['--color', 'always'], true],
  ])('with %j and %j is reported in color: %s', async (env, args, coloured) => {
    const { stderr } = await filings(['list', '--nonsense', ...args], { env });
    expect(stderr.includes('\x1b[')).toBe(coloured);
  });
});
