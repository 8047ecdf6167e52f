import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Each flush of a file waits for a file named `go`. The first one fails as soon as there is one named `fail`. */
const HELD_FLUSHES = `const fs = require('node:fs');
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

/** Returns an environment in which the flushes of the program are held. `path` is its working directory. */
export async function holdFlushes(path: string): Promise<Record<string, string>> {
  await writeFile(join(path, '../held-flushes.cjs'), HELD_FLUSHES);
  return { NODE_OPTIONS: '--require ../held-flushes.cjs' };
}

/** Lets all held flushes go, or the first one fail. */
export async function allow(path: string, what: 'go' | 'fail'): Promise<void> {
  await writeFile(join(path, '..', what), '');
}
