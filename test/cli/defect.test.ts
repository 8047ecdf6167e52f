import { expect } from 'vitest';
import { ACCESSION, test } from './program.ts';

/** A system call throws what no system does. */
const BREAKS = `const fs = require('node:fs');
const { lstatSync } = fs;
fs.lstatSync = (path, ...rest) => {
  if (String(path).endsWith('/primary.htm')) throw new TypeError('a defect');
  return lstatSync(path, ...rest);
};`;

test('with --verbose a defect names the files and the functions of the source', async ({ place }) => {
  const args = ['--sandbox', 'download', ACCESSION, 'primary.htm', '--verbose'];
  const { exitCode, stderr } = await place.filings(args, await place.hook(BREAKS));
  expect(exitCode, stderr).toBe(1);
  expect(stderr).toMatch(/^filings: a defect in the program: TypeError: a defect\n {2}hint: /m);
  // The hook is no file of the build, and has no map.
  expect(stderr).toMatch(/^ +at .*lstatSync \(\/.*\/hook\.cjs:4:\d+\)$/m);
  expect(stderr).toMatch(/^ +at .*src\/transfer\/part\.ts:\d+:\d+/m);
});

test.for`
  what                    | code                                          | error
  ${'an exception'}       | ${'throw new TypeError("broken")'}            | ${'TypeError: broken'}
  ${'a rejected promise'} | ${'Promise.reject(new RangeError("broken"))'} | ${'RangeError: broken'}
`('$what that no code catches prints one line and a hint, and exits with 1', async ({ code, error }, { place }) => {
  const hook = await place.hook(`setImmediate(() => { ${code} });`);
  const { exitCode, stderr } = await place.filings(['--sandbox', 'list', ACCESSION], hook);
  expect(stderr).toMatch(/^filings: .*\n {2}hint: .*\n$/);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(error)]);
});
