// A minimal download of many small files in Node: undici with JOBS connections. Each file is written, flushed and
// linked, and a flush of the directory is shared by the files that wait. It has no checks, retries and records.
// Arguments: URL with NAME in it, LIST of names, DIRECTORY, JOBS.
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

/** Waits for a flush that starts after this call, because a running flush may not include the link. */
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
