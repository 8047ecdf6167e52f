import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Workplace, workplace } from '../cli/program.ts';

/**
 * Runs bash in a workplace with files `one` and `two` in `a`, listed by sha256sum. Returns the lines of stdout, and
 * stderr.
 */
async function inPlace(script: string, place?: Workplace) {
  const { shell, path } = place ?? (await workplace());
  await mkdir(join(path, 'a'));
  for (const name of ['one', 'two']) await writeFile(join(path, 'a', name), name);
  const { stdout, stderr } = await shell(`(cd a; sha256sum one two > SHA256SUMS)\n${script}`);
  return { lines: stdout.toString('latin1').split('\n').filter(Boolean), stderr };
}

test('verify and sha256sum agree on listed, changed and missing files with odd names', async () => {
  const { lines } = await inPlace(`cd a
    for name in $'new\\nline' $'car\\rriage' 'back\\slash' 'ümlaut' ' space ' '-dash' '*star' '.dot'; do
      printf %s "$name" > "./$name"; done
    rm SHA256SUMS; sha256sum -- * .dot > ../sums; mv ../sums SHA256SUMS; $FILINGS verify . -q; echo $?
    echo x > ./-dash; rm two; $FILINGS verify . -q; sha256sum -c SHA256SUMS 2>/dev/null | grep FAILED`);
  expect(lines).toEqual(['0', 'changed\t-dash', 'missing\ttwo', '-dash: FAILED', 'two: FAILED open or read']);
});

test('verify does not block on a FIFO in place of a file or a SHA256SUMS, or named by an entry', async () => {
  const { lines, stderr } = await inPlace(`mkdir b; mkfifo fifo b/SHA256SUMS; rm a/one; mkfifo a/one
    echo "$(printf 0%.0s {1..64})  ../fifo" >> a/SHA256SUMS; $FILINGS verify a b; echo $?`);
  expect(lines).toEqual(['changed\ta/one', 'missing\ta/../fifo', '9']);
  expect(stderr).toMatch(/b\/SHA256SUMS: cannot read: it is not a regular file/);
});

test.each([
  ['a file', 'a/one', 'pread64', ['8']],
  ['a directory', 'a/below', 'getdents64', ['missing\ta/two', '9']],
])('verify reports %s that the disk cannot read, and continues (strace)', async (_, name, call, expected) => {
  const place = await workplace();
  const fault = `-P ${join(place.path, name)} -e trace=${call} -e inject=${call}:error=EIO`;
  const { lines, stderr } = await inPlace(
    `mkdir a/below; ${expected.length > 1 ? 'rm a/two;' : ''} strace -f -o /dev/null ${fault} $FILINGS verify a; echo $?`,
    place,
  );
  expect(lines).toEqual(expected);
  expect(stderr).toContain(`${name}: cannot read: the disk reported an error`);
});
