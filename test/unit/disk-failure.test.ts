import { constants } from 'node:os';
import { expect, test } from 'vitest';
import { isSystemError, mapWriteErrors, systemReason, toReadError, toWriteError } from '../../src/disk/failure.ts';
import { FilingsError } from '../../src/errors.ts';
import { markForRedaction } from '../../src/secrets.ts';

/** An error as Node creates it. The code of an error that Node cannot name is `Unknown system error -117`. */
const system = (code: string, errno: number) =>
  Object.assign(new Error(`${code}: words of libuv, open 'x'`), { code, errno, syscall: 'open' });
const named = (code: string) => Object.assign(new Error('x'), { code });
const unnamed = (errno: number) => system(`Unknown system error -${errno}`, -errno);

test.each`
  stops    | codes
  ${true}  | ${['ENOSPC', 'EROFS', 'EIO', 'EMFILE', 'ENFILE', 'EDQUOT']}
  ${false} | ${['EACCES', 'EPERM', 'EFBIG', 'ENAMETOOLONG', 'EINVAL', 'ENOENT', 'EISDIR', 'EINUSE', 'ESTALE', 'EBUSY']}
`('only errors that would fail all files stop a run: $codes $stops', ({ stops, codes }) => {
  for (const code of codes) expect(toWriteError(named(code), 'a'), code).toMatchObject({ stopsRun: stops });
});

// `-o` exists only for `download`, and does not help with a path such as that of `--failed` or `--directory`.
test.each(['ENAMETOOLONG', 'EINVAL', 'EILSEQ'])('the hint about a refused path is not about one option: %s', (code) => {
  expect(toWriteError(named(code), 'a')).toMatchObject({ hint: 'choose another path' });
});

test.each`
  code        | hint
  ${'EACCES'} | ${'check its permissions, and the disk'}
  ${'EFTYPE'} | ${'choose another path'}
  ${'EISDIR'} | ${'move it away, or choose another path'}
  ${'ELOOP'}  | ${'remove it, or choose another path'}
`('the hint about what cannot be read because of $code fits', ({ code, hint }) => {
  expect(toReadError(named(code), 'SHA256SUMS')).toMatchObject({ hint });
});

test.each`
  what                                              | error                              | words
  ${'a full disk'}                                  | ${system('ENOSPC', -28)}           | ${'the disk is full'}
  ${'a read-only disk'}                             | ${system('EROFS', -30)}            | ${'read-only file system (EROFS)'}
  ${'an exceeded quota, which libuv does not name'} | ${unnamed(constants.errno.EDQUOT)} | ${'the disk quota is used up'}
  ${'a network disk that has disappeared'}          | ${unnamed(constants.errno.ESTALE)} | ${'stale file handle'}
  ${'a file that a container mounts by itself'}     | ${system('EBUSY', -16)}            | ${'it is in use, or it is a mount point'}
  ${'an unknown error number'}                      | ${unnamed(9999)}                   | ${'system error 9999'}
  ${'a path that is not a regular file'}            | ${named('EFTYPE')}                 | ${'it is not a regular file'}
  ${'a closed stream'}                              | ${named('ERR_STREAM_DESTROYED')}   | ${'ERR_STREAM_DESTROYED'}
`('$what is reported as a failure to write or to read', async ({ error, words }) => {
  const failure = { code: 'local_io', hint: expect.any(String), cause: error };
  const [writing, reading] = [`out/a: cannot write: ${words}`, `out/a: cannot read: ${words}`];
  expect(toWriteError(error, 'out/a')).toMatchObject({ ...failure, message: writing });
  expect(toReadError(error, 'out/a')).toMatchObject({ ...failure, stopsRun: false, message: reading });
  await expect(mapWriteErrors('out/a', () => Promise.reject(error))).rejects.toMatchObject(failure);
});

test.each`
  what                     | error
  ${'a TypeError'}         | ${new TypeError('x is not a function')}
  ${'a TypeError of Node'} | ${Object.assign(new TypeError('x'), { code: 'ERR_INVALID_ARG_TYPE' })}
  ${'a RangeError'}        | ${new RangeError('Invalid string length')}
  ${'undefined'}           | ${undefined}
  ${'a FilingsError'}      | ${new FilingsError('interrupted', 'interrupted')}
`('$what is not a system error and is returned unchanged', async ({ error }) => {
  expect(isSystemError(error)).toBe(false);
  expect(toWriteError(error, 'out/a')).toBe(error);
  expect(toReadError(error, 'out/a')).toBe(error);
  await expect(mapWriteErrors('out/a', () => Promise.reject(error))).rejects.toBe(error);
});

test('the reason of a system error contains the name of its code', () => {
  expect(systemReason(system('EACCES', -13))).toBe('permission denied (EACCES)');
  expect(systemReason(new Error('it is a directory'))).toBe(markForRedaction('it is a directory'));
});
