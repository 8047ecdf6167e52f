import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/catalogue.ts';
import { readLine } from '../../src/commands/completion/line.ts';
import { offeredNames, wantedFiling } from '../../src/commands/completion/offered-names.ts';
import { meaningOf } from '../../src/commands/completion/shell-word.ts';

describe('a word of a command line means', () => {
  test.each([
    ['plain', 'plain'],
    ['a\\ b', 'a b'],
    ['"a b"', 'a b'],
    ["'a b'c", 'a bc'],
    ["it\\'s", "it's"],
    ['"open', 'open'],
    ["'open", 'open'],
    ['"a\\"b\\$c\\d"', 'a"b$c\\d'],
    ["'$HOME'", '$HOME'],
    ['\\$HOME', '$HOME'],
    ["'`id`'", '`id`'],
    ['a$', 'a$'],
    ['~/x', '/home/me/x'],
    ['~', '/home/me'],
    ["'~/x'", '~/x'],
    ['a~/x', 'a~/x'],
  ])('%s: %s', (word, meant) => expect(meaningOf(word, 'bash', '/home/me')).toBe(meant));

  test.each(['$HOME', '"$HOME/x"', 'a${', '$(id)', '"`id`"', '`id`', '<(id)', '>(id)', '~root/x', "$'a'", '$1'])(
    '%s: only the shell could say',
    (word) => expect(meaningOf(word, 'zsh', '/home/me')).toBeUndefined(),
  );

  test('fish tells its words without quotes', () => {
    expect(meaningOf('a b"c', 'fish', '/home/me')).toBe('a b"c');
    expect(meaningOf('~/x', 'fish', '/home/me')).toBe('/home/me/x');
  });
});

describe('a line', () => {
  test.each([
    [['--sandbox', 'download', 'A', 'x'], 'download', ['A', 'x'], { sandbox: true }],
    [['download', '--profile=p', '-j4', 'A'], 'download', ['A'], { profile: 'p', jobs: '4' }],
    [['download', '-nqj', '4', 'A'], 'download', ['A'], { quiet: true, jobs: '4' }],
    [['--profile', 'list', 'download', '-d', 'list', 'A'], 'download', ['A'], { profile: 'list' }],
    [['download', 'A', '--', '--sandbox'], 'download', ['A', '--sandbox'], {}],
    [['token', 'sign', '--sub', undefined], 'sign', [], {}],
    [['download', '--nope', 'A'], 'download', ['A'], {}],
  ])('%j', (words, command, args, flags) => {
    expect(readLine(words, COMMANDS)).toMatchObject({ command, args, flags });
  });

  test.each([[['--profile', undefined, 'download', 'A']], [['download', undefined]], [['download', 'A', undefined]]])(
    '%j: only the shell could say',
    (words) => expect(readLine(words, COMMANDS)).toBeUndefined(),
  );
});

describe('names are offered', () => {
  const NAMES = ['a.htm', 'b c.htm', '-dash.htm', 'x\u001b[31m.htm', 'y\n.htm', '\u202ez.htm', '\ud800.htm', ''];
  const offered = (words: readonly string[], begin = '') => {
    const line = readLine(words, COMMANDS);
    return line && wantedFiling(line) && offeredNames(NAMES, { line, begin });
  };

  test.each([
    [
      ['download', 'A'],
      ['a.htm', 'b c.htm'],
    ],
    [['download', 'A', 'a.htm'], ['b c.htm']],
    [
      ['download', 'A', '--'],
      ['a.htm', 'b c.htm', '-dash.htm'],
    ],
    [['download', '--all', 'A'], undefined],
    [['download', '--include', 'x', 'A'], undefined],
    [['download', 'A', '-i', 'x'], undefined],
    [['download'], undefined],
    [['list', 'A'], undefined],
  ])('behind %j: %j', (words, names) => expect(offered(words)).toEqual(names));

  test('that begin as the word does', () => expect(offered(['download', 'A'], 'b ')).toEqual(['b c.htm']));

  test('up to a megabyte', () => {
    const line = readLine(['download', 'A'], COMMANDS);
    const many = Array.from({ length: 3000 }, (_, index) => `${index}${'x'.repeat(1000)}`);
    expect(line && offeredNames(many, { line, begin: '' }).join('\n').length).toBeLessThanOrEqual(1 << 20);
  });
});
