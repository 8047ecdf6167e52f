import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * A hook: each flush of a file waits for a file named `go` beside the working directory. The first one fails as soon as
 * there is one named `fail`.
 */
export const HELD_FLUSHES = `const fs = require('node:fs');
const { fsync, existsSync } = fs;
let first = true;
fs.fsync = (fd, done) => {
  const mayFail = first;
  first = false;
  const held = setInterval(() => {
    const fails = mayFail && existsSync('../fail');
    if (!fails && !existsSync('../go')) return;
    clearInterval(held);
    if (fails) done(Object.assign(new Error('EIO'), { code: 'EIO', errno: -5, syscall: 'fsync' }));
    else fsync(fd, done);
  }, 5);
};`;

/** Lets all held flushes go, or the first one fail. */
export async function allow(path: string, what: 'go' | 'fail'): Promise<void> {
  await writeFile(join(path, '..', what), '');
}
