import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { sleep } from '../src/abort.ts';
import { Secrets } from '../src/secrets.ts';
import type { World } from '../src/world.ts';

/** A world over a folder of its own; what is not given is empty. */
export function worldOf(given: Partial<World> = {}): World {
  return {
    argv: [],
    env: {},
    cwd: '/',
    platform: process.platform,
    hostname: 'test',
    pid: process.pid,
    isRunning: () => true,
    uid: process.geteuid?.(),
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    now: Date.now,
    monotonic: () => performance.now(),
    sleep,
    random: Math.random,
    interrupt: new AbortController().signal,
    onSuspend: () => () => {},
    secrets: new Secrets(),
    version: '0.0.0',
    root: join(import.meta.dirname, '..'),
    ...given,
  };
}

/** A folder that is gone when its block ends (`await using`). */
export async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), 'filings-settings-'));
  return {
    path,
    /** Writes a file, 0600 unless told, and gives its path. */
    async file(name: string, content: string | object, mode = 0o600): Promise<string> {
      const file = join(path, name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
      await chmod(file, mode);
      return file;
    },
    remove: () => rm(path, { recursive: true, force: true }),
  };
}
