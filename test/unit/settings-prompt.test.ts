import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { askHidden } from '../../src/commands/config/edit.ts';

/** Asks at a terminal at which these keys are pressed. */
function typing(keys: string) {
  const modes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (on: boolean) => modes.push(on) });
  const stderr = new PassThrough();
  stdin.write(keys);
  const answer = askHidden('apiKey: ', { stdin, stderr, interrupt: new AbortController().signal });
  return { answer, modes, shown: () => String(stderr.read()) };
}

test.each([
  ['secret\r', 'secret'],
  ['secret\nrest', 'secret'],
  ['secrex\x7ft\r', 'secret'],
  ['wrong\x15secret\r', 'secret'],
  ['\r', ''],
])('%j types %j, and shows nothing of it', async (keys, line) => {
  const { answer, modes, shown } = typing(keys);
  expect(await answer).toBe(line);
  expect(modes).toEqual([true, false]);
  expect(shown()).toBe('apiKey: \n');
});
