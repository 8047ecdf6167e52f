import { describe, expect, test } from 'vitest';
import { readCommandLine } from '../../src/cli/program.ts';

function parse(line: string) {
  const { line: parsed, error } = readCommandLine(line.split(' ').filter(Boolean));
  if (parsed === undefined) throw error;
  return parsed;
}

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

test.each<[line: string, about: string, missing?: boolean]>([
  ['--help', 'filings'],
  ['help', 'filings'],
  ['list --help', 'filings list'],
  ['help token sign', 'filings token sign'],
  ['--profile work list -h', 'filings list'],
  ['download --help --nonsense', 'filings download'],
  ['', 'filings', true],
  ['-v', 'filings', true],
  ['config', 'filings config', true],
])('%j shows the help of %s (missing command: %j)', (line, about, missing = false) => {
  const request = parse(line);
  expect(request).toMatchObject({ kind: 'help', about, missing, text: expect.stringContaining(`Usage: ${about} `) });
});

test.each(['--version', '-V', '--version list', '-qV'])('%j requests the version', (line) =>
  expect(parse(line)).toEqual({ kind: 'version' }),
);

test.each([
  ['lst', "unknown command 'lst'", 'did you mean list?'],
  ['token inspct x', "unknown command 'inspct'", 'did you mean inspect?'],
  ['token sign x', 'filings token sign: takes no arguments', 'see filings token sign --help'],
  ['completion bash zsh', 'filings completion: takes at most 1 argument', 'see filings completion --help'],
  ['eyJhbGciOi.canary', "unknown command '…'", 'see filings --help'],
  ['token eyJhbGciOi.canary', "unknown command '…'", 'see filings token --help'],
  ['list --jsn X', "unknown option '--jsn'", 'did you mean --json?'],
  ['list --api-kye=canary', "unknown option '--api-kye'", 'did you mean --api-key?'],
  ['download --dryrun', "unknown option '--dryrun'", 'did you mean --dry-run?'],
  ['list --zz', "unknown option '--zz'", 'see filings list --help'],
  ['list -xcanary', "unknown option '-x'", 'see filings list --help'],
  ['list --json=canary', '--json takes no value', 'leave out what follows --json'],
  ['list --api-key', '--api-key needs a value', 'see filings list --help'],
  ['verify', 'filings verify: DIRECTORY is missing', 'see filings verify --help'],
  ['completion zhs', "unknown SHELL 'zhs'", 'did you mean zsh?'],
  ['completion SECRET.canary', "unknown SHELL '…'", 'see filings completion --help'],
  ['list -l --json X', '--long cannot be used with --json', 'see filings list --help'],
  ['serve --port 65536', "--port: must be a whole number from 0 to 65,535, such as 8787, not '65536'", undefined],
  ['--color=canary list X', "--color: must be auto, always or never, not 'canary'", undefined],
])('%j is refused with the message %j', (line, message, hint) => {
  expect(() => parse(line)).toThrow(expect.objectContaining({ code: 'usage', exitStatus: 2, message, hint }));
});

describe('the settings of a command line that is wrong', () => {
  const json = { errorFormat: 'json' };

  test.each<{ line: string; message: string; flags: object }>([
    { line: 'list --bogus --error-format json', message: "unknown option '--bogus'", flags: json },
    { line: '--bogus list --error-format json', message: "unknown option '--bogus'", flags: json },
    { line: 'lst --error-format json', message: "unknown command 'lst'", flags: json },
    { line: 'token bogus --error-format json', message: "unknown command 'bogus'", flags: json },
    { line: 'download --jobs 1 --if-exists x', message: '--if-exists: must be skip, compare', flags: { jobs: '1' } },
    { line: 'list --color x --error-format json', message: '--color: must be', flags: { ...json, color: 'x' } },
    { line: 'completion csh --error-format json', message: "unknown SHELL 'csh'", flags: json },
    { line: 'download --all -o x --error-format json', message: '--output cannot be used with --all', flags: json },
    { line: '--error-format text completion bash zsh', message: 'at most 1', flags: { errorFormat: 'text' } },
    { line: 'list --error-format json --jobs', message: '--jobs needs a value', flags: json },
  ])('are read: $line', ({ line, message, flags }) => {
    const read = readCommandLine(line.split(' '));
    expect(read.error).toMatchObject({ code: 'usage', message: expect.stringContaining(message) });
    expect(read.flags).toEqual(flags);
  });

  test('are read of a line without a command', () => {
    const { line, flags } = readCommandLine(['--error-format', 'json', 'config']);
    expect([line?.kind, flags]).toEqual(['help', json]);
  });
});

test.each<[line: string, name: string, path: string]>([
  ['download X f -d ~/x', 'directory', '/home/me/x'],
  ['download X f --directory=~', 'directory', '/home/me'],
  ['download X f --report=~/r', 'report', '/home/me/r'],
  ['download X f -o -', 'output', '-'],
  ['download X f -o ~x/y', 'output', '~x/y'],
  ['download X f --layout=~/{file_name}', 'layout', '~/{file_name}'],
])('a path option that begins with ~/ means the home directory: %s', (line, name, path) => {
  const { line: parsed } = readCommandLine(line.split(' '), { home: '/home/me' });
  expect(parsed).toMatchObject({ invocation: { options: { [name]: path } } });
});

test('~/ means the home directory in the path of a shared option, too', () => {
  const { flags } = readCommandLine(['list', 'X', '--config=~/c.json', '--api-key=~/k'], { home: '/home/me' });
  expect(flags).toEqual({ config: '/home/me/c.json', apiKey: '~/k' });
});
