import { mkdir, truncate, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { head } from '../../servers/answers.ts';
import { startArchive } from '../../servers/archive.ts';
import { content } from '../../service/transfer-fixture.ts';
import { ACCESSION } from '../program.ts';

const BODY = content(3_000_000);

/**
 * A service with files of 3 MB. Each response stops after 2 MB until the test releases the file. `listed` has the names
 * in the listing of each filing. Any other name can be downloaded, too.
 */
export async function startPaused(listed: readonly string[] = [], accessions: readonly string[] = [ACCESSION]) {
  const sockets = new Map<string, Socket>();
  const released = new Set<string>();
  const files = Object.fromEntries(listed.map((name) => [name, BODY]));
  const archive = await startArchive(Object.fromEntries(accessions.map((accession) => [accession, files])), {
    instead(socket, { name }) {
      if (name === undefined) return false;
      sockets.set(name, socket);
      socket.write(head(200, { 'Content-Length': BODY.length, ETag: '"v1"' }));
      socket.write(released.has(name) ? BODY : BODY.subarray(0, 2_000_000));
      return true;
    },
  });
  return {
    ...archive,
    /**
     * Sends the rest of a file, or the whole file at once if it has not been requested yet. With `once`, further
     * responses of that name stop as well.
     */
    release(name: string, once = false) {
      if (!once) released.add(name);
      sockets.get(name)?.write(BODY.subarray(2_000_000));
    },
  };
}

/**
 * Creates the directory `there` with a SHA256SUMS that does not match. The last file is sparse and takes long to hash.
 */
export async function longToHash(path: string, names = ['a.htm']): Promise<void> {
  const there = join(path, 'there');
  await mkdir(there);
  for (const name of names) await writeFile(join(there, name), 'changed');
  await truncate(join(there, names.at(-1) ?? ''), 200e9);
  await writeFile(join(there, 'SHA256SUMS'), names.map((name) => `${'0'.repeat(64)}  ${name}\n`).join(''));
}
