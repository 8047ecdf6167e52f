import { promisify } from 'node:util';
import { expect } from 'vitest';
import { ACCESSION, BIN, HELD_CLOCK, NODE, started, test } from './program.ts';

test.for`
  end               | signal       | status | why
  ${'SIGINT'}       | ${'SIGINT'}  | ${130} | ${'interrupted: SIGINT'}
  ${'SIGTERM'}      | ${'SIGTERM'} | ${143} | ${'interrupted: SIGTERM'}
  ${'SIGHUP'}       | ${'SIGHUP'}  | ${129} | ${'interrupted: SIGHUP'}
  ${'the deadline'} | ${undefined} | ${7}   | ${'the deadline of 1 s has passed'}
`('$end ends a program that waits for stdin, with $status', async ({ signal, status, why }: Waiting, { place }) => {
  const env = { HOME: place.home, FILINGS_DEADLINE: '1s', ...(await place.hook(HELD_CLOCK)) };
  const running = started([NODE, BIN, 'config', 'set', 'api-key'], { cwd: place.path, env });
  const { stdin } = running;
  // More than the buffer of a pipe. The write ends when the program has read most of it.
  await promisify(stdin.write.bind(stdin) as (data: string, then: () => void) => void)('x'.repeat(1_000_000));
  if (signal) running.kill(signal);
  const { exitCode, stderr } = await (signal ? running.ended : place.passUntilEnd(running));
  expect([exitCode, stderr.split('\n')[0]]).toEqual([status, `filings: ${why}`]);
});

type Waiting = { signal: NodeJS.Signals | undefined; status: number; why: string };

test.for`
  what                    | code                                          | error
  ${'an exception'}       | ${'throw new TypeError("broken")'}            | ${'TypeError: broken'}
  ${'a rejected promise'} | ${'Promise.reject(new RangeError("broken"))'} | ${'RangeError: broken'}
`(
  '$what that no code catches prints one line and a hint, and exits with 1',
  async ({ code, error }: Defect, { place }) => {
    const hook = await place.hook(`setImmediate(() => { ${code} });`);
    const { exitCode, stderr } = await place.filings(['--sandbox', 'list', ACCESSION], hook);
    expect(stderr).toMatch(/^filings: .*\n {2}hint: .*\n$/);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(error)]);
  },
);

type Defect = { code: string; error: string };
