// A minimal download of one large file in Node: undici, writes of 1 MiB while the next chunks arrive, a flush every 128
// MB and at the end, a rename, and a flush of the directory. Arguments: URL, DIRECTORY.
import { closeSync, fdatasync, fsyncSync, openSync, renameSync, writev } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { request } from 'undici';

const [url, directory] = process.argv.slice(2);
const write = promisify(writev);
const flush = promisify(fdatasync);
const part = join(directory, '.large.part');
const file = openSync(part, 'wx');
const { body } = await request(url);
let [gathered, size, unflushed] = [[], 0, 0];
let [writing, flushing] = [undefined, Promise.resolve()];

async function writeOut() {
  await writing;
  writing = write(file, gathered);
  unflushed += size;
  [gathered, size] = [[], 0];
  if (unflushed < 128e6) return;
  unflushed = 0;
  flushing = Promise.all([flushing, flush(file)]);
}

for await (const chunk of body) {
  gathered.push(chunk);
  size += chunk.length;
  if (size >= 1 << 20) await writeOut();
}
await writeOut();
await writing;
await flushing;
await flush(file);
closeSync(file);
renameSync(part, join(directory, 'large.bin'));
const folder = openSync(directory, 'r');
fsyncSync(folder);
