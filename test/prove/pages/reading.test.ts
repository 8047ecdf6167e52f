import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { blocksOf } from './blocks.ts';
import { isShown, saidBy, stepsOf } from './console.ts';
import { readCrontab } from './crontab.ts';
import { commandsOf, strictly } from './shell-commands.ts';

// How pages are read, before anything in them is run.

describe('a page', () => {
  test('is its fenced blocks, with language, place and text', () => {
    const page = [
      '# A',
      '```sh',
      '',
      'one',
      '  two',
      '```',
      '- item',
      '  ```json',
      '  {}',
      '  ```',
      '````text',
      '```',
      '````',
    ];
    expect(blocksOf('A.md', page.join('\n'))).toEqual([
      { page: 'A.md', line: 3, language: 'sh', text: '\none\n  two\n', firstLine: 'one' },
      { page: 'A.md', line: 9, language: 'json', text: '{}\n', firstLine: '{}' },
      { page: 'A.md', line: 12, language: 'text', text: '```\n', firstLine: '```' },
    ]);
  });

  test('with a block that is not closed is refused', () => {
    expect(() => blocksOf('A.md', 'x\n```sh\nrm -rf /\n')).toThrow('A.md:2: a block that is not closed');
  });
});

describe('a crontab', () => {
  test.each([
    ['* * * * * true', { command: 'true', input: '', env: {} }],
    ['*/5,30-40/2 0-23 1 12 7 date +\\%F', { command: 'date +%F', input: '', env: {} }],
    ['@daily cat%one%two \\% three', { command: 'cat', input: 'one\ntwo % three\n', env: {} }],
    [
      'A=1\nB = "x y"\n# note\n\nC=$A\n0 0 * * * env',
      { command: 'env', input: '', env: { A: '1', B: 'x y', C: '$A' } },
    ],
  ])('%j', (text, job) => {
    expect(readCrontab(`${text}\n`)).toEqual([job]);
  });

  test.each([
    ['60 * * * * true', 'line 1: minute: 60'],
    ['0 24 * * * true', 'line 1: hour: 24'],
    ['0 5-3 * * * true', 'line 1: hour: 5-3'],
    ['0 0 0 * * true', 'line 1: day of month: 0'],
    ['0 0 1 13 * true', 'line 1: month: 13'],
    ['A=1\n0 0 * * 8 true', 'line 2: day of week: 8'],
    ['*/0 * * * * true', 'line 1: minute: */0'],
    ['*-5 * * * * true', 'line 1: minute: *-5'],
    ['0 0 * * *', 'line 1: not five fields and a command'],
    ['filings list', 'line 1: not five fields and a command'],
  ])('%j is refused', (text, why) => {
    expect(() => readCrontab(`${text}\n`)).toThrow(why);
  });

  test('without a line break at its end is refused', () => {
    expect(() => readCrontab('* * * * * true')).toThrow('no line break');
  });
});

describe('a console block', () => {
  test('is commands, each with what it shows', () => {
    expect(stepsOf('$ one\n$ two \\\n> more\n> shown\na\n')).toEqual([
      { command: 'one', shown: [] },
      { command: 'two \\\nmore\nshown', shown: ['a'] },
    ]);
    expect(() => stepsOf('a\n$ one\n')).toThrow('begins with');
  });

  test('what was said is told apart by command', () => {
    expect(saidBy('a\n\x1e\x1eb\x1e')).toEqual(['a\n', '', 'b']);
  });

  test.each([
    [['a', 'b'], 'a\nb\n', true],
    [['a'], 'a', true],
    [['a'], 'a\nb\n', false],
    [['a', '...'], 'a\nb\nc\n', true],
    [['...', 'c'], 'a\nb\nc\n', true],
    [['a', '...', 'c'], 'a\nc\n', true],
    [['a', '...', 'c'], 'a\nb\n', false],
    [['a.c'], 'abc\n', false],
    [[], '', true],
    [[], 'a\n', false],
  ])('%j is what %j shows: %s', (shown, said, expected) => {
    expect(isShown(shown, said)).toBe(expected);
  });
});

describe('a script', () => {
  test('is its commands, with all their lines', async () => {
    const commands = [
      '# note\n',
      'a | b # c\n',
      'a \\\n  b\n',
      "echo 'x\ny'\n",
      'if a\nthen b\nfi\n',
      'cat <<E\n(\nE\n',
      '\n',
    ];
    expect(await commandsOf(commands.join(''))).toEqual(commands);
  });

  test.each([
    ['true\n', 0],
    ['(exit 3)\ntrue\n', 3],
    ['(exit 3) && true\ntrue\n', 3],
    ['(exit 3) | cat\ntrue\n', 3],
    ['(exit 3) || true\n# done\n', 0],
    ['if false\nthen true\nfi\ntrue\n', 0],
    ['sleep 0 &\nkill %1 2>&- || true\n', 0],
    ['echo "$UNSET"\ntrue\n', 1],
    ['if true\n', 2],
  ])('%j ends with %i', async (script, status) => {
    const { exitCode } = await execa('bash', ['-euo', 'pipefail', '-c', await strictly(script)], { reject: false });
    expect(exitCode).toBe(status);
  });
});
