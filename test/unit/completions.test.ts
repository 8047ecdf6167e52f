import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/catalogue.ts';
import { completionsFor } from '../../src/commands/completion/completions.ts';
import { splitLine } from '../../src/commands/completion/shell-line.ts';
import { SHELLS } from '../../src/commands/completion/shells.ts';
import { SETTINGS } from '../../src/settings/table.ts';
import { flagOf } from '../../src/spec/option.ts';

const at = (line: string) => completionsFor(line.split(' '), COMMANDS);
const texts = (line: string) => at(line).candidates.map(({ text }) => text);
const lookUp = (line: string) => at(line).lookUp;

const COLORS = ['auto', 'always', 'never'];
const ALGORITHMS = ['RS', 'PS', 'ES', 'HS'].flatMap((family) => [256, 384, 512].map((bits) => `${family}${bits}`));
const IN_FILE = SETTINGS.filter(({ inFile }) => inFile).map(({ key }) => flagOf(key));
const TOPICS = ['options', 'exit-codes', 'environment'];
const TOP = COMMANDS.map(({ name }) => name);
const TOKEN = ['sign', 'inspect', 'verify', 'keygen'];

describe('the words offered', () => {
  test.each<[string, readonly string[]]>([
    ['', TOP],
    ['--sandbox -j 3 ', TOP],
    ['--profile download ', TOP],
    ['token ', TOKEN],
    ['token --alg ES256 ', TOKEN],
    ['token sign ', []],
    ['token --alg ', ALGORITHMS],
    ['token verify --alg ES256 --alg ', ALGORITHMS],
    ['token keygen --format ', ['pem', 'jwk']],
    ['completion ', ['bash', 'zsh', 'fish', 'powershell']],
    ['completion bash ', []],
    ['list ', []],
    ['list --color ', COLORS],
    ['list --color=', COLORS],
    ['list --colour=', []],
    ['list --json=', []],
    ['list --retries ', []],
    ['list -- --color=', []],
    ['download -nj3 --color ', COLORS],
    ['config set ', IN_FILE],
    ['config get ', IN_FILE],
    ['config unset ', IN_FILE],
    ['config set color ', COLORS],
    ['config set errorFormat ', ['text', 'json']],
    ['config set --profile work key-in ', ['authorization', 'header', 'query', 'path', 'basic']],
    ['config set allow-http ', ['true', 'false']],
    ['config set jobs ', []],
    ['config set api-key ', []],
    ['config set listing ', []],
    ['config set sandbox ', []],
    ['config set colour ', []],
    ['config set color always ', []],
    ['config get color ', []],
    ['help ', [...TOP, ...TOPICS]],
    ['help token ', TOKEN],
    ['help token sign ', []],
    ['help options ', []],
    ['help none ', []],
    ['none ', []],
  ])('after %j', (line, words) => expect(texts(line)).toEqual(words));
});

test.each<[string, string | undefined]>([
  ['list --input ', 'file'],
  ['list -i', undefined],
  ['list -iacc', 'file'],
  ['download -nd ', 'directory'],
  ['download -ndmir', 'directory'],
  ['download --output=', 'file'],
  ['verify ', 'directory'],
  ['verify one two ', 'directory'],
  ['serve ', 'directory'],
  ['serve one ', undefined],
  ['download ', undefined],
  ['download X a.htm ', 'name'],
  ['download X -- -', 'name'],
  ['download X --include ', undefined],
  ['list X ', undefined],
  ['list --profile ', 'profile'],
  ['config set profile ', 'profile'],
  ['config set jwt-file ', 'file'],
  ['config set api-key-command ', undefined],
])('finds the kind of word to look up after %j', (line, what) => expect(lookUp(line)).toBe(what));

test.each([
  ['list --color=al', '--color='],
  ['download -qj', ''],
  ['download -qj3', '-qj'],
  ['download --output=a=b', '--output='],
  ['download X a=', ''],
])('the part of the word that stays, in %j', (line, prefix) => expect(at(line).prefix).toBe(prefix));

describe('options', () => {
  test('are those of the command, of the command that runs when none is named, and of every command', () => {
    expect(texts('-')).toEqual(expect.arrayContaining(['-V', '--version', '-j', '--jobs', '-h', '--help']));
    expect(texts('token --')).toEqual(expect.arrayContaining(['--alg', '--jobs']));
    expect(texts('token inspect --')).not.toContain('--alg');
    expect(texts('list --')).not.toContain('--version');
    expect(at('list --').candidates).toContainEqual({ text: '--json', help: 'print JSON Lines, one object a file' });
  });

  test('are offered once, unless they may be repeated', () => {
    const left = texts('download -qj3 --color auto --include a --include=b -');
    for (const flag of ['-q', '--quiet', '-j', '--jobs', '--color']) expect(left).not.toContain(flag);
    expect(left).toEqual(expect.arrayContaining(['--include', '--verbose']));
  });

  test('before the cursor are known by their names, with their values', () => {
    const { args, optionValues } = at(
      '--sandbox download -nqj3 --base-url=u --api-key -k X --include a a.htm -- --json ',
    );
    expect(args).toEqual(['X', 'a.htm', '--json']);
    expect(optionValues).toEqual({
      ...{ sandbox: true, dryRun: true, quiet: true, jobs: '3' },
      ...{ baseUrl: 'u', apiKey: '-k', include: 'a' },
    });
  });
});

/** The default COMP_WORDBREAKS of bash. */
const BREAKS = ' \t\n"\'@><=;|&(:';

describe('a line is split as the shell does', () => {
  test.each<[string, readonly string[], keptPrefix?: string, quote?: string]>([
    ['filings ', ['']],
    ['filings  a\tb', ['a', 'b']],
    ['/bin/filings a ', ['a', '']],
    ['filings a\\ b "c d"e \'f g\'', ['a b', 'c de', 'f g']],
    ['filings \'\' "" ', ['', '', '']],
    ['filings "a\\"\\\\\\$\\n" \'b\\\' c', ['a"\\$\\n', 'b\\', 'c']],
    ['filings --x=a', ['--x=a'], '--x='],
    ['filings --x=', ['--x='], '--x='],
    ['filings a=b c:d:e', ['a=b', 'c:d:e'], 'c:d:'],
    ['filings a\\:b', ['a:b']],
    ["filings 'a:b'c", ['a:bc']],
    ["filings x='a:b'", ['x=a:b'], 'x='],
    ['filings "a b:c', ['a b:c'], '', '"'],
    ["filings x:y'z w", ['x:yz w'], 'x:y', "'"],
    ['filings ~/a ~/b', ['/home/a', '~/b']],
    ['filings "~/a" x~/b \\~/c d', ['~/a', 'x~/b', '~/c', 'd']],
  ])('%j', (line, words, keptPrefix = '', quote = '') => {
    expect(splitLine(line, { home: '/home', breaks: BREAKS })).toEqual({ words, keptPrefix, quote, isExpanded: false });
  });

  test.each([
    ['filings $X ', true],
    ['filings "$X" ', true],
    ['filings `x` ', true],
    ['filings --config <(pass) ', true],
    ["filings '$X' \\$Y ", false],
    ['filings x $X', false],
  ])('%j has a word that only the shell can expand: %j', (line, isExpanded) => {
    expect(splitLine(line, { home: undefined }).isExpanded).toBe(isExpanded);
  });
});

const ODD = [
  'it\'s "q".htm',
  '$a`b`.htm',
  'back\\sl:ash*?.htm',
  '(p)&q;<r>|.htm',
  '!b#{x,y}[z]^.htm',
  '~r d\u2019é.htm',
];

/** Returns the answer to a shell about these names, which begin with the typed word. */
function printed(name: string, typed: string, candidates: readonly string[], help = '') {
  const shell = SHELLS[name];
  if (shell === undefined) throw new Error(name);
  const line = shell.read([name === 'powershell' ? `filings\t${typed}` : `filings ${typed}`], {
    COMP_WORDBREAKS: BREAKS,
  });
  return shell.print({ kind: 'words', candidates: candidates.map((text) => ({ text, help })), prefix: '' }, line);
}
const lines = (...all: readonly string[]) => all.map((line) => `${line}\n`).join('');

describe('names that a shell would act on', () => {
  test('are escaped for bash', () => {
    const escaped = [
      'it\\\'s\\ \\"q\\".htm',
      '\\$a\\`b\\`.htm',
      'back\\\\sl:ash\\*\\?.htm',
      '\\(p\\)\\&q\\;\\<r\\>\\|.htm',
      '\\!b\\#\\{x,y\\}\\[z\\]\\^.htm',
      '\\~r\\ d\u2019é.htm',
    ];
    expect(printed('bash', '', ODD)).toBe(lines('words', ...escaped));
  });

  test.each([
    ["'it", ["it'\\''s \"q\".htm"]],
    ['"it', ['it\'s \\"q\\".htm']],
    ['"$', ['\\$a\\`b\\`.htm']],
    ['"back', ['back\\\\sl:ash*?.htm']],
    ['"!', []],
    ["'!", ['!b#{x,y}[z]^.htm']],
    ['back\\\\sl:', ['ash\\*\\?.htm']],
  ])('are completed in bash behind %s', (typed, words) => {
    expect(printed('bash', typed, ODD)).toBe(lines('words', ...words));
  });

  test('keep their colons and backslashes in zsh, where a colon ends a word', () => {
    expect(printed('zsh', '', ['a:b\\c'], 'x: y')).toBe(lines('words', 'a\\:b\\\\c:x: y'));
    expect(printed('zsh', 'zz', ['a:b\\c'])).toBe(lines('words', 'a\\:b\\\\c'));
  });

  test('are quoted by fish itself', () => {
    expect(printed('fish', '', ODD)).toBe(lines('words', ...ODD));
    expect(printed('fish', '', ['--x'], 'y')).toBe(lines('words', '--x\ty'));
  });

  test('are quoted for PowerShell in JSON of ASCII; one with a double quote is left out', () => {
    const text = printed('powershell', '', ['--color=auto', ...ODD, '']);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are the whole of ASCII
    expect(text).toMatch(/^[\x00-\x7f]*\n$/);
    expect(JSON.parse(text).words.map(({ word }: { word: string }) => word)).toEqual([
      '--color=auto',
      "'$a`b`.htm'",
      "'back\\sl:ash*?.htm'",
      "'(p)&q;<r>|.htm'",
      "'!b#{x,y}[z]^.htm'",
      "'~r d\u2019\u2019é.htm'",
      "''",
    ]);
  });
});

test.each([
  ['bash', 'filings verify --config=a:b\\ c', ['file', '--config=', 'a:b c', '--config=a:']],
  ['zsh', 'filings verify --config=a', ['file', '--config=', 'a', '']],
  ['fish', 'filings verify -xa', ['file', '', '-xa', '']],
])('%s gets the prefix of a path, its start and the kept part', (name, line, told) => {
  const shell = SHELLS[name];
  const words = shell?.read([line], { COMP_WORDBREAKS: BREAKS }) ?? expect.fail();
  const prefix = name === 'fish' ? '' : '--config=';
  expect(shell?.print({ kind: 'file', candidates: [], prefix }, words)).toBe(lines(...told));
});
