import { expect, test } from 'vitest';
import { CTRL_C, CTRL_D, screen } from './screen.ts';

const HIDDEN = 'config set api-key';
const KEY = 'a-canary-key-of-this-test';
/** Says afterwards whether the terminal echoes, which only its own settings tell. */
const andEcho = (command: string) => `$FILINGS ${command}; echo "ended with $?"; stty -a | grep -o -e '-\\?\\becho\\b'`;

test.each([
  ['Ctrl-C', CTRL_C, ['apiKey:', 'filings: interrupted: SIGINT', 'ended with 130', 'echo']],
  ['Enter', `${KEY}\r`, ['apiKey:', 'ended with 0', 'echo']],
  ['Ctrl-D', `${KEY}${CTRL_D}`, ['apiKey:', 'ended with 0', 'echo']],
])('a hidden prompt ends its line with %s, and the terminal echoes as before', async (_name, keys, lines) => {
  const at = await screen([], { script: andEcho(HIDDEN) });
  await at.shows((now) => now.includes('apiKey:'));
  at.type(keys);
  expect(await at.shows((now) => now.length === lines.length)).toEqual(lines);
  expect(await at.ended).toBe(0);
  expect(at.bytes()).not.toContain('canary');
});

test.each([
  ['Ctrl-C', CTRL_C, 'paste the token, then press Enter: ^C', 'filings: interrupted: SIGINT'],
  ['Ctrl-D', CTRL_D, 'paste the token, then press Enter:', 'filings: '],
])('a visible prompt ends its line with %s', async (_name, keys, first, second) => {
  const at = await screen(['token', 'inspect']);
  await at.shows((lines) => lines.some((line) => line.startsWith('paste the token')));
  at.type(keys);
  expect(await at.ended).toBeGreaterThan(0);
  expect(at.lines()[0]).toBe(first);
  expect(at.lines()[1]).toContain(second);
});

test.each([
  ['Ctrl-C', CTRL_C, ['^C', 'filings: interrupted: SIGINT']],
  ['Ctrl-D', CTRL_D, []],
])('a prompt with a line of its own ends that of what is typed with %s', async (_name, keys, lines) => {
  const at = await screen(['token', 'sign', '--key', '-']);
  await at.shows((now) => now.some((line) => line.includes('then press Ctrl-D:')));
  at.type(keys);
  expect(await at.ended).toBeGreaterThan(0);
  expect(at.lines().slice(1, 1 + lines.length)).toEqual(lines);
  expect(at.lines()[1 + lines.length] ?? 'filings:').toMatch(/^(filings:|$)/);
});
