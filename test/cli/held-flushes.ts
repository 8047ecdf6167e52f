import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * A hook: each flush of a file waits for a file named `go` beside the working directory. The first one fails as soon as
 * there is one named `fail`. When no further flush has come for some time, a line says how many wait.
 */
export const HELD_FLUSHES = `const fs = require('node:fs');
const { fsync, existsSync } = fs;
let [waiting, ticks] = [0, 0];
fs.fsync = (fd, done) => {
  const mayFail = waiting === 0;
  waiting += 1;
  ticks = 0;
  const held = setInterval(() => {
    ticks += 1;
    if (ticks === 20 * waiting) process.stderr.write(waiting + ' flushes wait\\n');
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
