// Downloads large files at the same time with undici, and keeps no byte that has arrived. Its peak of memory, less that
// for as many small files, is Node's own. Over TLS it needs NODE_EXTRA_CA_CERTS. Arguments: URL with NAME in it,
// DIRECTORY, NAMES.
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Pool } from 'undici';

const [url, directory, ...names] = process.argv.slice(2);
const { origin, pathname, search } = new URL(url);
const pool = new Pool(origin, { connections: names.length });

async function fetchOne(name) {
  const { body } = await pool.request({ method: 'GET', path: `${pathname}${search}`.replace('NAME', name) });
  const file = openSync(join(directory, name), 'w');
  for await (const chunk of body) writeSync(file, chunk);
  closeSync(file);
}

await Promise.all(names.map(fetchOne));
await pool.close();
