import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/catalogue.ts';
import { parseCommandLine, readCommandLine } from '../../src/cli/program.ts';

const parse = (line: string) => parseCommandLine(line === '' ? [] : line.split(' '), COMMANDS);

function invocationOf(line: string) {
  const request = parse(line);
  if (request.kind !== 'run') throw new Error(`${line} does not run`);
  return { name: request.name, ...request.invocation };
}

describe('shared options', () => {
  test.each(['--jobs 2 download X', 'download X -j 2', 'download -j3 X --jobs=2', '-j3 download -j2 X'])(
    'the last occurrence wins in %j',
    (line) => expect(invocationOf(line)).toMatchObject({ name: 'download', args: ['X'], flags: { jobs: '2' } }),
  );

  test('can be grouped with other short options before and after the command', () => {
    expect(invocationOf('-qj2 list X').flags).toEqual({ quiet: true, jobs: '2' });
    expect(invocationOf('list -qlj2 X')).toMatchObject({ flags: { quiet: true, jobs: '2' }, options: { long: true } });
    expect(invocationOf('-v token -q sign').flags).toEqual({ verbose: true, quiet: true });
  });

  test('are returned apart from the options of the command', () => {
    const { args, flags, options } = invocationOf('list X --json --api-key=-k --include a --include b');
    expect([args, flags]).toEqual([['X'], { apiKey: '-k' }]);
    expect(options).toMatchObject({ input: undefined, include: ['a', 'b'], exclude: [], long: false, json: true });
    expect(options).not.toHaveProperty('apiKey');
  });
});

test.each([
  ['list -- --json -x', ['--json', '-x']],
  ['list X -', ['X', '-']],
  ['list -0 X', ['X']],
])('%j has the arguments %j', (line, args) => expect(invocationOf(line).args).toEqual(args));

test.each([
  ['token', 'sign'],
  ['token --sub me', 'sign'],
  ['token inspect X', 'inspect'],
])('%j runs %s', (line, name) => expect(invocationOf(line).name).toBe(name));

test.each<[line: string, about: string, brief: boolean, missing?: boolean]>([
  ['--help', 'filings', false],
  ['-h', 'filings', true],
  ['list --help', 'filings list', false],
  ['-qh list', 'filings list', true],
  ['--help token --sub sign', 'filings token sign', false],
  ['--profile work list -h', 'filings list', true],
  ['token sign -h', 'filings token sign', true],
  ['download --help --nonsense', 'filings download', false],
  ['', 'filings', true, true],
  ['-v', 'filings', true, true],
  ['config', 'filings config', true, true],
])('%j shows the help of %s (short: %j, missing command: %j)', (line, about, brief, missing = false) => {
  const request = parse(line);
  expect(request).toMatchObject({ kind: 'help', about, missing });
  expect(request.kind === 'help' && /^More: .*--help/m.test(request.text(80))).toBe(brief);
});

test.each(['--version', '-V', '--version list', '-qV'])('%j requests the version', (line) =>
  expect(parse(line)).toEqual({ kind: 'version' }),
);

test.each([
  ['lst', 'lst: no such command', 'did you mean list?'],
  ['eyJhbGciOi.canary', 'the first argument: no such command', 'see filings --help'],
  ['token eyJhbGciOi.canary', 'token: no such command', 'see filings token --help'],
  ['list --jsn X', '--jsn: no such option', 'did you mean --json?'],
  ['list --api-kye=canary', '--api-kye: no such option', 'did you mean --api-key?'],
  ['--vresion', '--vresion: no such option', 'did you mean --version?'],
  ['list --json=canary', '--json: takes no value', 'see filings list --help'],
  ['list --api-key', '--api-key: KEY is missing', 'see filings list --help'],
  ['download -j', '--jobs: N is missing', 'see filings download --help'],
  ['config get', 'config get: KEY is missing', 'see filings config get --help'],
  ['verify', 'verify: DIRECTORY is missing', 'see filings verify --help'],
  ['config get jobs canary', 'config get takes 1 argument, not 2', 'see filings config get --help'],
  ['config set a b canary', 'config set takes 2 arguments, not 3', 'see filings config set --help'],
  ['config path canary', 'config path takes no arguments', 'see filings config path --help'],
  ['completion tcsh', "SHELL: must be bash, zsh, fish or powershell, not 'tcsh'", undefined],
  ['list -l --json X', '--long cannot be used with --json', 'see filings list --help'],
  ['serve --port 65536', "--port: must be a whole number from 0 to 65,535, such as 8787, not '65536'", undefined],
  ['--color=canary list X', "--color: must be auto, always or never, not 'canary'", undefined],
])('%j is refused with the message %j', (line, message, hint) => {
  expect(() => parse(line)).toThrow(expect.objectContaining({ code: 'usage', exitStatus: 2, message, hint }));
});

describe('the settings of a command line that is wrong', () => {
  const json = { errorFormat: 'json' };

  test.each<[line: string, message: string, flags: object]>([
    ['list --bogus --error-format json', '--bogus: no such option', json],
    ['--bogus list --error-format json', '--bogus: no such option', json],
    ['--error-format json list --bogus', '--bogus: no such option', json],
    ['lst --error-format json', 'lst: no such command', json],
    ['token bogus --error-format json', 'token bogus: no such command', json],
    [
      'download --jobs 1 --if-exists x --error-format json',
      '--if-exists: must be skip, compare',
      { ...json, jobs: '1' },
    ],
    ['list --color x --error-format json', '--color: must be', { ...json, color: '' }],
    ['completion csh --error-format json', 'SHELL: must be', json],
    ['download --all --output x --error-format json', '--output cannot be used with --all', json],
    ['--error-format text completion bash zsh --error-format json', 'completion takes 1 argument, not 2', json],
    ['list --error-format json --jobs', '--jobs: N is missing', json],
  ])('are read: %s', (line, message, flags) => {
    const read = readCommandLine(line.split(' '), COMMANDS);
    expect(read.error).toMatchObject({ code: 'usage', message: expect.stringContaining(message) });
    expect(read.flags).toEqual(flags);
  });

  test('are read of a line without a command', () => {
    const { line, flags } = readCommandLine(['--error-format', 'json', 'config'], COMMANDS);
    expect([line?.kind, flags]).toEqual(['help', json]);
  });

  test('are not looked for behind --version', () => {
    expect(readCommandLine(['--version', '--jobs', 'x'], COMMANDS).line).toEqual({ kind: 'version' });
  });
});
