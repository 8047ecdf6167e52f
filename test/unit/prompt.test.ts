import { getEventListeners } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { askHidden } from '../../src/stdio/prompt.ts';
import { worldOf } from '../settings-world.ts';

test('a prompt releases stdin and the interrupt when it is answered', async () => {
  const [stdin, interrupt] = [new PassThrough(), new AbortController()];
  const asking = askHidden('API key', worldOf({ stdin, interrupt: interrupt.signal }));
  stdin.write('a-key\n');
  expect(await asking).toBe('a-key');
  expect(stdin.destroyed).toBe(true);
  expect(getEventListeners(interrupt.signal, 'abort')).toEqual([]);
});
