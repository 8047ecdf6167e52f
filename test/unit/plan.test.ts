import type { Stats } from 'node:fs';
import { expect, test } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { choosePlan } from '../../src/transfer/plan.ts';

type Kind = 'file' | 'link' | 'directory' | 'device' | undefined;

/** The plan of a file of 7 bytes: its kind, its bytes if an existing file stays, and words of its error. */
function plan(existing: Kind, ifExists: string, more = {}): string {
  const is = (kind: Kind) => () => existing === kind;
  const stats = { size: 7, isFile: is('file'), isSymbolicLink: is('link'), isDirectory: is('directory') } as Stats;
  const target = { displayPath: 'a', ifExists, sha256: undefined, ...more };
  const { kind, ...rest } = choosePlan(existing && stats, target as never);
  if ('error' in rest) return `${kind}: ${rest.error.message}`;
  return 'bytes' in rest ? `${kind} ${rest.bytes}` : kind;
}

const EXISTS = 'fail: a: it already exists';
const blocked = (what: string) => `fail: a: cannot write: ${what} already exists there`;
test.each`
  existing       | skip                          | compare                       | overwrite                    | error
  ${undefined}   | ${'fetch'}                    | ${'fetch'}                    | ${'fetch'}                   | ${'fetch'}
  ${'file'}      | ${'skip 7'}                   | ${'compare 7'}                | ${'fetch'}                   | ${EXISTS}
  ${'link'}      | ${blocked('a symbolic link')} | ${blocked('a symbolic link')} | ${'fetch'}                   | ${EXISTS}
  ${'directory'} | ${blocked('a directory')}     | ${blocked('a directory')}     | ${blocked('a directory')}    | ${EXISTS}
  ${'device'}    | ${blocked('a special file')}  | ${blocked('a special file')}  | ${blocked('a special file')} | ${EXISTS}
`('--if-exists decides about an existing $existing', ({ existing, ...plans }) => {
  for (const [ifExists, expected] of Object.entries(plans)) expect(plan(existing, ifExists), ifExists).toBe(expected);
});

const HASH = { sha256: 'ab' };
const USED = { conflict: new FilingsError('integrity', 'it is the report') };
test.each`
  existing     | ifExists       | more    | expected
  ${'file'}    | ${'skip'}      | ${HASH} | ${'check 7'}
  ${'file'}    | ${'compare'}   | ${HASH} | ${'check 7'}
  ${'file'}    | ${'overwrite'} | ${HASH} | ${'fetch'}
  ${'file'}    | ${'overwrite'} | ${USED} | ${'fail: it is the report'}
  ${undefined} | ${'skip'}      | ${USED} | ${'fail: it is the report'}
`('$existing with --if-exists $ifExists and $more: $expected', ({ existing, ifExists, more, expected }) => {
  expect(plan(existing, ifExists, more)).toBe(expected);
});
