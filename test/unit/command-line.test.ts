import { describe, expect, test } from 'vitest';
import { readCommandLine } from '../../src/cli/program.ts';

function parse(line: string) {
  return readCommandLine(line.split(' ').filter(Boolean)).readAction();
}

function invocationOf(line: string) {
  const request = parse(line);
  if (request.kind !== 'run') throw new Error(`${line} does not run`);
  return { name: request.spec.name, ...request.invocation };
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

test.each`
  line                   | args
  ${'list -- --json -x'} | ${['--json', '-x']}
  ${'list X -'}          | ${['X', '-']}
  ${'list -0 X'}         | ${['X']}
`('$line has the arguments $args', ({ line, args }) => expect(invocationOf(line).args).toEqual(args));

test.each`
  line                 | name
  ${'token'}           | ${'sign'}
  ${'token --sub me'}  | ${'sign'}
  ${'token inspect X'} | ${'inspect'}
`('$line runs $name', ({ line, name }) => expect(invocationOf(line).name).toBe(name));

test.each`
  line                            | command
  ${'help list --color never'}    | ${'filings list'}
  ${'help list --json -h'}        | ${'filings list'}
  ${'--profile work list -h'}     | ${'filings list'}
  ${'download --help --nonsense'} | ${'filings download'}
  ${'help'}                       | ${'filings'}
  ${'help token'}                 | ${'filings token'}
  ${'help verify'}                | ${'filings verify'}
  ${'help config'}                | ${'filings config'}
  ${'-q help'}                    | ${'filings'}
  ${'--color never help list'}    | ${'filings list'}
  ${'-j 2 help token sign'}       | ${'filings token sign'}
`('the line $line shows the help of $command', ({ line, command }) => {
  expect(parse(line)).toEqual({ kind: 'help', text: expect.stringContaining(`Usage: ${command} `) });
});

test.each(['--version', '-V', '--version list', '-qV', 'help --version'])('%j requests the version', (line) =>
  expect(parse(line)).toEqual({ kind: 'version' }),
);

const COMMANDS_HINT = 'choose list, download, verify, token, serve, config, completion or help, or see filings --help';
const CONFIG_HINT = 'choose list, get, set, unset, path or check, or see filings config --help';

test.each`
  line                         | hint                                      | message
  ${''}                        | ${COMMANDS_HINT}                          | ${'a command is missing'}
  ${'-v'}                      | ${COMMANDS_HINT}                          | ${'a command is missing'}
  ${'config'}                  | ${CONFIG_HINT}                            | ${'config: a command is missing'}
  ${'lst'}                     | ${'did you mean list?'}                   | ${"unknown command 'lst'"}
  ${'token inspct x'}          | ${'did you mean inspect?'}                | ${"unknown command 'inspct'"}
  ${'token sign x'}            | ${'see filings token sign --help'}        | ${'token sign: takes no arguments'}
  ${'completion bash zsh'}     | ${'see filings completion --help'}        | ${'completion: takes at most 1 argument'}
  ${'eyJhbGciOi.canary'}       | ${'see filings --help'}                   | ${"unknown command '…'"}
  ${'token eyJhbGciOi.canary'} | ${'see filings token --help'}             | ${"unknown command '…'"}
  ${'list --jsn X'}            | ${'did you mean --json?'}                 | ${"unknown option '--jsn'"}
  ${'list --api-kye=canary'}   | ${'did you mean --api-key?'}              | ${"unknown option '--api-kye'"}
  ${'download --dryrun'}       | ${'did you mean --dry-run?'}              | ${"unknown option '--dryrun'"}
  ${'list --zz'}               | ${'see filings list --help'}              | ${"unknown option '--zz'"}
  ${'list -xcanary'}           | ${'see filings list --help'}              | ${"unknown option '-x'"}
  ${'list --json=canary'}      | ${'write --json without a value'}         | ${'--json takes no value'}
  ${'list --api-key'}          | ${'see filings list --help'}              | ${'--api-key needs a value'}
  ${'help token sgn'}          | ${'did you mean sign?'}                   | ${"unknown command 'sgn'"}
  ${'help -x'}                 | ${'see filings --help'}                   | ${"unknown option '-x'"}
  ${'help --bogus list'}       | ${'see filings --help'}                   | ${"unknown option '--bogus'"}
  ${'help download --bogus'}   | ${'see filings download --help'}          | ${"unknown option '--bogus'"}
  ${'-q help list --bogus'}    | ${'see filings list --help'}              | ${"unknown option '--bogus'"}
  ${'version'}                 | ${'did you mean --version?'}              | ${"unknown command 'version'"}
  ${'hlep'}                    | ${'did you mean help?'}                   | ${"unknown command 'hlep'"}
  ${'--hlep'}                  | ${'did you mean --help?'}                 | ${"unknown option '--hlep'"}
  ${'list --hepl'}             | ${'did you mean --help?'}                 | ${"unknown option '--hepl'"}
  ${'--download'}              | ${'did you mean download?'}               | ${"unknown option '--download'"}
  ${'token help'}              | ${'did you mean --help?'}                 | ${"unknown command 'help'"}
  ${'-version'}                | ${'did you mean --version?'}              | ${"unknown option '-version'"}
  ${'download X -all'}         | ${'did you mean --all?'}                  | ${"unknown option '-all'"}
  ${'help list --jobs'}        | ${'see filings list --help'}              | ${'--jobs needs a value'}
  ${'verify'}                  | ${'see filings verify --help'}            | ${'verify: DIRECTORY is missing'}
  ${'completion zhs'}          | ${'did you mean zsh?'}                    | ${"unknown SHELL 'zhs'"}
  ${'completion S.canary'}     | ${'choose bash, zsh, fish or powershell'} | ${"unknown SHELL '…'"}
  ${'list -l --json X'}        | ${'see filings list --help'}              | ${'--long cannot be used with --json'}
  ${'serve --port 65536'}      | ${'see filings serve --help'}             | ${"--port: must be a whole number from 0 to 65,535, such as 8787, not '65536'"}
  ${'--color=canary list X'}   | ${'see filings list --help'}              | ${"--color: must be auto, always or never, not 'canary'"}
`('$line is refused: $message', ({ line, message, hint }) => {
  const { readAction, hint: defaultHint } = readCommandLine(line.split(' ').filter(Boolean));
  expect(readAction).toThrow(expect.objectContaining({ code: 'usage', exitStatus: 2, message }));
  expect(readAction).toThrow(expect.toSatisfy((error) => (error.hint ?? defaultHint) === hint));
});

describe('the settings of a command line that is wrong', () => {
  const json = { errorFormat: 'json' };

  test.each`
    line                                         | flags                      | message
    ${'--error-format json config'}              | ${json}                    | ${'config: a command is missing'}
    ${'list --bogus --error-format json'}        | ${json}                    | ${"unknown option '--bogus'"}
    ${'--bogus list --error-format json'}        | ${json}                    | ${"unknown option '--bogus'"}
    ${'lst --error-format json'}                 | ${json}                    | ${"unknown command 'lst'"}
    ${'token bogus --error-format json'}         | ${json}                    | ${"unknown command 'bogus'"}
    ${'download --jobs 1 --if-exists x'}         | ${{ jobs: '1' }}           | ${'--if-exists: must be skip, compare'}
    ${'list --color x --error-format json'}      | ${{ ...json, color: 'x' }} | ${'--color: must be'}
    ${'completion csh --error-format json'}      | ${json}                    | ${"unknown SHELL 'csh'"}
    ${'help --error-format json lst'}            | ${json}                    | ${"unknown command 'lst'"}
    ${'download --all -o x --error-format json'} | ${json}                    | ${'--output cannot be used with --all'}
    ${'--error-format text completion bash zsh'} | ${{ errorFormat: 'text' }} | ${'at most 1'}
    ${'list --error-format json --jobs'}         | ${json}                    | ${'--jobs needs a value'}
  `('are read: $line', ({ line, message, flags }) => {
    const { readAction, flags: read } = readCommandLine(line.split(' '));
    expect(readAction).toThrow(expect.objectContaining({ code: 'usage', message: expect.stringContaining(message) }));
    expect(read).toEqual(flags);
  });
});

test.each`
  line                                     | option         | path
  ${'download X f -d ~/x'}                 | ${'directory'} | ${'/home/me/x'}
  ${'download X f --directory=~'}          | ${'directory'} | ${'/home/me'}
  ${'download X f --report=~/r'}           | ${'report'}    | ${'/home/me/r'}
  ${'download X f -o -'}                   | ${'output'}    | ${'-'}
  ${'download X f -o ~x/y'}                | ${'output'}    | ${'~x/y'}
  ${'download X f --layout=~/{file_name}'} | ${'layout'}    | ${'~/{file_name}'}
`('a path option that begins with ~/ means the home directory: $line', ({ line, option, path }) => {
  const { readAction } = readCommandLine(line.split(' '), { home: '/home/me' });
  expect(readAction()).toMatchObject({ invocation: { options: { [option]: path } } });
});
