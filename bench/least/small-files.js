// Node's least for many small files: undici, so many at a time, each written, flushed, linked, and its directory
// flushed, once for all that wait. Nothing is checked, retried or recorded. URL with NAME in it, LIST of names, DIRECTORY, JOBS.
import { closeSync, fdatasync, fsync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Pool } from 'undici';

const [url, list, directory, jobs] = process.argv.slice(2);
const { origin, pathname, search } = new URL(url);
const names = readFileSync(list, 'utf8').trim().split('\n').values();
const pool = new Pool(origin, { connections: Number(jobs) });
const folder = openSync(directory, 'r');
const flush = promisify(fdatasync);
const flushDirectory = promisify(fsync);
let current;
let next;

/** A flush that began after this call: what runs already may not have seen the link. */
function flushed() {
  next ??= (current ?? Promise.resolve()).then(() => {
    next = undefined;
    current = flushDirectory(folder);
    return current;
  });
  return next;
}

async function fetchAll() {
  for (const name of names) {
    const { body } = await pool.request({ method: 'GET', path: `${pathname}${search}`.replace('NAME', name) });
    const part = join(directory, `.${name}.part`);
    const file = openSync(part, 'wx');
    for await (const chunk of body) writeSync(file, chunk);
    await flush(file);
    closeSync(file);
    linkSync(part, join(directory, name));
    unlinkSync(part);
    await flushed();
  }
}

await Promise.all(Array.from({ length: Number(jobs) }, fetchAll));
await pool.close();
