import { describe, expect, test } from 'vitest';
import { ACCESSION } from './place.ts';
import { filings } from './run.ts';

describe('a wrong command line', () => {
  test('exits 2, and says what was meant', async () => {
    expect(await filings(['lst'])).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: 'filings: lst: no such command\n  hint: did you mean list?\n',
    });
  });

  test.each([
    [['--error-format', 'json', 'list', '--nonsense'], {}],
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
    [['download', ACCESSION, '--all', '--failed', '', '--sandbox'], '--failed: must be a file'],
    [['download', '-i', '', '--all', '--done=', '--sandbox'], '--input: must be a file'],
    [['download', '-i', '-', '--all', '--done=', '--sandbox'], '--done: must be a file'],
    [['download', ACCESSION, '--all', '-d', '', '--sandbox'], '--directory: must be a directory'],
    [['list', '--input=', '--sandbox'], '--input: must be a file'],
    [['token', 'sign', '--key='], '--key: must be a file'],
    [['token', 'verify', 'a.b.c', '--secret-file='], '--secret-file: must be a file'],
    [['token', 'keygen', '--alg=ES256', '--out='], '--out: must be a file'],
    [['serve', '--jwt-secret='], '--jwt-secret: must be a file'],
    [['list', ACCESSION, '--config='], '--config: '],
  ])('%j: an empty path is not the working directory', async (args, told) => {
    const { stdout, stderr, exitCode } = await filings(args);
    expect({ stdout, exitCode }, String(stderr)).toEqual({ stdout: '', exitCode: 2 });
    expect(stderr).toContain(`filings: ${told}`);
    expect(stderr).toContain('is empty');
  });

  test.each([
    [['token', 'bogus'], 'token bogus: no such command', 'see filings token --help'],
    [['config', 'bogus'], 'config bogus: no such command', 'see filings config --help'],
    [['help', ''], "help '': no such command or topic", 'see filings --help'],
    [['help', ''], "help '': no such command or topic", 'see filings --help'],
    [['config', 'get', ''], "'': no such setting", "'filings help config' names them all"],
  ])('%j names what is not there, and where to look', async (args, message, hint) => {
    expect(await filings(args)).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: `filings: ${message}\n  hint: ${hint}\n`,
    });
  });

  test('never has a key in it', async () => {
    const canary = 'canary-key-12345';
    const lines = [
      ['list', `--api-kye=${canary}`],
      ['list', '--api-key', canary, '--nonsense', '-v'],
      [canary],
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
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, [], false],
    [{}, ['--color', 'always'], true],
    [{}, [], false],
  ])('with %j and %j it is coloured: %s', async (env, args, coloured) => {
    const { stderr } = await filings(['list', '--nonsense', ...args], { env: env as Record<string, string> });
    expect(String(stderr).includes('\x1b[')).toBe(coloured);
  });
});
