import { mkdir } from 'node:fs/promises';
import { expect } from 'vitest';
import { test as base, workplace } from '../cli/program.ts';

/** A workplace with the files `one` and `two` in `a`, listed by sha256sum. */
const test = base.extend('listed', async () => {
  const place = await workplace();
  for (const name of ['one', 'two']) await place.write(`a/${name}`, name);
  await place.shell('cd a; sha256sum one two > SHA256SUMS');
  /** Runs bash. Returns the lines of stdout, and stderr. */
  const run = async (script: string) => {
    const { stdout, stderr } = await place.shell(script);
    return { lines: stdout.toString('latin1').split('\n').filter(Boolean), stderr };
  };
  return { ...place, run };
});

test('verify and sha256sum agree on listed, changed and missing files with odd names', async ({ listed }) => {
  const { lines } = await listed.run(`cd a
    for name in $'new\\nline' $'car\\rriage' 'back\\slash' 'ümlaut' ' space ' '-dash' '*star' '.dot'; do
      printf %s "$name" > "./$name"; done
    rm SHA256SUMS; sha256sum -- * .dot > ../sums; mv ../sums SHA256SUMS; $FILINGS verify . -q; echo $?
    echo x > ./-dash; rm two; $FILINGS verify . -q; sha256sum -c SHA256SUMS 2>/dev/null | grep FAILED`);
  expect(lines).toEqual(['0', 'changed\t-dash', 'missing\ttwo', '-dash: FAILED', 'two: FAILED open or read']);
});

test('verify does not block on a FIFO in place of a file or a SHA256SUMS, or named by an entry', async ({ listed }) => {
  const { lines, stderr } = await listed.run(`mkdir b; mkfifo fifo b/SHA256SUMS; rm a/one; mkfifo a/one
    echo "$(printf 0%.0s {1..64})  ../fifo" >> a/SHA256SUMS; $FILINGS verify a b; echo $?`);
  expect(lines).toEqual(['changed\ta/one', 'missing\ta/../fifo', '9']);
  expect(stderr).toContain('b/SHA256SUMS: cannot read');
});

test.for([
  { what: 'a file', path: 'a/one', call: 'pread64', expected: ['8'] },
  { what: 'a directory', path: 'a/below', call: 'getdents64', expected: ['missing\ta/two', '9'] },
])('verify reports $what that the disk cannot read, and continues', async ({ path, call, expected }, { listed }) => {
  await mkdir(listed.at('a/below'));
  const strace = `strace -f -o /dev/null -P "$PWD/${path}" -e trace=${call} -e inject=${call}:error=EIO`;
  const { lines, stderr } = await listed.run(`${expected[1] ? 'rm a/two;' : ''} ${strace} $FILINGS verify a; echo $?`);
  expect(lines).toEqual(expected);
  expect(stderr).toContain(`${path}: cannot read`);
});
