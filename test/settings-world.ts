import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { sleep } from '../src/abort.ts';
import { Secrets } from '../src/secrets.ts';
import type { World } from '../src/world.ts';

const isRoot = process.geteuid?.() === 0;
/** The owner of the files that `ownFile` writes, never root: files of root may be readable for all. */
export const OWNER = isRoot ? 12345 : process.geteuid?.();

/** A World whose missing parts are empty or in memory. */
export function worldOf(parts: Partial<World> = {}): World {
  return {
    argv: [],
    env: {},
    cwd: '/',
    platform: process.platform,
    uid: process.geteuid?.(),
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    now: Date.now,
    monotonic: () => performance.now(),
    sleep,
    random: Math.random,
    interrupt: new AbortController().signal,
    setDeadline: () => {},
    killProcessGroup(leader) {
      process.kill(-leader, 'SIGKILL');
    },
    secrets: new Secrets(),
    printedHints: new Set(),
    version: '0.0.0',
    root: join(import.meta.dirname, '..'),
    ...parts,
  };
}

/** A temporary folder. `remove` deletes it. */
export async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), 'filings-settings-'));
  return {
    path,
    /** Writes a file, with mode 0600 by default. Returns its path. */
    async file(name: string, content: string | Buffer | object, mode = 0o600): Promise<string> {
      const file = join(path, name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(
        file,
        typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content),
      );
      await chmod(file, mode);
      return file;
    },
    /** Writes a file that belongs to {@link OWNER}. */
    async ownFile(name: string, content: string | Buffer | object, mode: number): Promise<string> {
      const file = await this.file(name, content, mode);
      if (isRoot) await chown(file, Number(OWNER), Number(OWNER));
      return file;
    },
    remove: () => rm(path, { recursive: true, force: true }),
  };
}
