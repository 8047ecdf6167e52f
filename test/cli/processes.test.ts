import { readFile } from 'node:fs/promises';
import { describe, expect, test, vi } from 'vitest';
import { until, workplace } from './program.ts';

// The second test looks at what the first one leaves running, as a test does that times out.
describe.runIf(process.platform === 'linux')('processes', () => {
  let left: readonly string[] = [];

  test('may still run when their test ends', async () => {
    const place = await workplace();
    void place.shell('sleep 1000 & echo "$$ $!" > pids; cat <(sleep 1000); true');
    await until(async () => {
      left = `${await place.read('pids').catch(() => '')}`.match(/\d+/g) ?? [];
      return left.length === 2;
    });
    expect(await Promise.all(left.map(commandLine))).toEqual([expect.stringMatching(/^bash/), 'sleep\x001000\0']);
  });

  test('end with it, as do those that they have started', async () => {
    await vi.waitFor(async () => expect(await Promise.all(left.map(commandLine))).toEqual(['', '']));
  });
});

/** Returns an empty text for a process that has ended, also for one that its parent has not waited for. */
const commandLine = (pid: string) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
