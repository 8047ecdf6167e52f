import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';

/** A filing of the samples. */
export const ACCESSION = '0001234567-24-000001';

/** The environment that names a service and a key. */
export const serviceAt = (url: string, key = 'a-key'): Record<string, string> => ({
  FILINGS_BASE_URL: url,
  FILINGS_API_KEY: key,
});

/** A FIFO that is open to read and to write, so that nobody waits for it. It is closed at the end of the test. */
export async function openFifo(path: string) {
  execFileSync('mkfifo', [path]);
  const handle = await open(path, 'r+');
  onTestFinished(() => handle.close());
  return handle;
}

/** Waits until a FIFO takes no more bytes, so that its writer waits for a reader. */
export async function untilFull(path: string) {
  const probe = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  await vi.waitFor(() => expect(() => writeSync(probe, '\n')).toThrow('EAGAIN'), { timeout: 60_000 });
  closeSync(probe);
}

/** A user's environment: an empty home and an empty working directory. Both are deleted at the end of the test. */
export async function emptyPlace() {
  const home = await mkdtemp(join(tmpdir(), 'filings-home-'));
  // A child of a shell that the test started may still be writing.
  onTestFinished(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
  const path = join(home, 'work');
  await mkdir(path);
  const at = (name: string) => resolve(path, name);
  /** Writes a file and the directories above it. Returns its path. */
  async function write(name: string, content: string | Uint8Array, mode = 0o600): Promise<string> {
    await mkdir(dirname(at(name)), { recursive: true });
    await writeFile(at(name), content);
    await chmod(at(name), mode);
    return at(name);
  }
  return {
    home,
    /** The working directory. Names are relative to it. */
    path,
    at,
    write,
    /** Writes the config file. */
    config: (content: object | string, mode?: number) =>
      write('../.config/filings/config.json', typeof content === 'string' ? content : JSON.stringify(content), mode),
    names: () => readdir(path),
    read: (name: string) => readFile(at(name)),
  };
}

export type Place = Awaited<ReturnType<typeof emptyPlace>>;
