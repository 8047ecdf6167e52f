import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { askHidden } from '../../src/commands/config/prompt.ts';

/** A terminal at which these keys are pressed. */
function typing(keys: string) {
  const modes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (on: boolean) => modes.push(on) });
  const stderr = new PassThrough();
  stdin.write(keys);
  const shown = () => {
    let text = '';
    for (let chunk = stderr.read(); chunk !== null; chunk = stderr.read()) text += chunk;
    return text;
  };
  return { modes, shown, ask: askHidden('apiKey: ', { stdin, stderr }, new AbortController().signal) };
}

test.each([
  ['secret\r', 'secret'],
  ['secret\nrest', 'secret'],
  ['secrex\x7ft\r', 'secret'],
  ['wrong\x15secret\r', 'secret'],
  ['secret\x04', 'secret'],
  ['\r', ''],
])('%j types %j, and shows nothing of it', async (keys, line) => {
  const { ask, modes, shown } = typing(keys);
  expect(await ask).toBe(line);
  expect(modes).toEqual([true, false]);
  expect(shown()).toBe('apiKey: \n');
});

test('Ctrl-C interrupts, and leaves the terminal as it was', async () => {
  const { ask, modes } = typing('sec\x03');
  await expect(ask).rejects.toMatchObject({ code: 'interrupted', exitStatus: 130 });
  expect(modes).toEqual([true, false]);
});
