import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A filing of the samples. */
export const ACCESSION = '0001234567-24-000001';

/** How to reach a service with a key. */
export const serviceAt = (url: string, key = 'a-key'): Record<string, string> => ({
  FILINGS_BASE_URL: url,
  FILINGS_API_KEY: key,
});

/** A user's place: an empty home and an empty working directory, gone when the test has ended. */
export interface Place {
  readonly home: string;
  /** The working directory. */
  readonly path: string;
  names(): Promise<string[]>;
  read(name: string): Promise<Buffer>;
}

export async function emptyPlace(): Promise<Place> {
  const home = await mkdtemp(join(tmpdir(), 'filings-home-'));
  // A shell that was started here may have a child that still writes.
  onTestFinished(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
  const path = join(home, 'work');
  await mkdir(path);
  return { home, path, names: () => readdir(path), read: (name) => readFile(join(path, name)) };
}
