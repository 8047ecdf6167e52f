import { expect, test } from 'vitest';
import { CTRL_C, CTRL_D, screen } from './screen.ts';

const HIDDEN = 'config set api-key';
const KEY = 'a-canary-key-of-this-test';
/** Says afterwards whether the terminal echoes, which only its own settings tell. */
const andEcho = (command: string) => `$FILINGS ${command}; echo "ended with $?"; stty -a | grep -o -e '-\\?\\becho\\b'`;

test.each([
  ['Ctrl-C', CTRL_C, ['apiKey:', 'filings: interrupted: SIGINT', 'ended with 130', 'echo']],
  ['Enter', `${KEY}\r`, ['apiKey:', 'ended with 0', 'echo']],
  ['Ctrl-D', CTRL_D, ['apiKey:', 'filings: apiKey: nothing was entered', 'ended with 2', 'echo']],
])('a hidden prompt ends its line with %s, and the terminal echoes as before', async (_name, keys, lines) => {
  const at = await screen([], { script: andEcho(HIDDEN) });
  await at.shows((now) => now.includes('apiKey:'));
  at.type(keys);
  expect(await at.shows((now) => now.length === lines.length)).toEqual(lines);
  expect(await at.ended).toBe(0);
  expect(at.bytes()).not.toContain('canary');
});

test.each([
  ['token inspect', 'Ctrl-C', CTRL_C, ['^C', 'filings: interrupted: SIGINT']],
  ['token inspect', 'Ctrl-D', CTRL_D, []],
  ['token sign --key -', 'Ctrl-C', CTRL_C, ['^C', 'filings: interrupted: SIGINT']],
  ['token sign --key -', 'Ctrl-D', CTRL_D, []],
])('%s: what %s leaves on the screen has a line of its own', async (command, _name, keys, lines) => {
  const at = await screen(command.split(' '));
  await at.shows((now) => now.some((line) => /then press (Enter|Ctrl-D):$/.test(line)));
  at.type(keys);
  expect(await at.ended).toBeGreaterThan(0);
  expect(at.lines().slice(1, 1 + lines.length)).toEqual(lines);
  expect(at.lines()[1 + lines.length] ?? 'filings:').toMatch(/^( {2}hint:|filings:|$)/);
});
