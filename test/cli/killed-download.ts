import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, type Workplace, workplace } from './program.ts';

// Shared by the tests that kill the download of one file, with or without an old file at its path.

/** A write takes 1 MiB and little more, so that there are at least four. */
export const FILE = content(4_500_000);
export const OLD = Buffer.from('the old file');
export const NAME = 'primary.htm';

export const argumentsFor = (old: boolean) => [
  ...['download', ACCESSION, NAME],
  ...(old ? ['--if-exists', 'overwrite'] : []),
];

export async function placeOf(old: boolean): Promise<Workplace> {
  const place = await workplace();
  if (old) await writeFile(join(place.path, NAME), OLD);
  return place;
}

/** Fails unless the final name is absent, old or complete, and the next run completes it and removes nothing else. */
export async function expectSoundThenComplete(place: Workplace, old: boolean, env: Record<string, string>) {
  if ((await place.names()).includes(NAME)) {
    const found = await place.read(NAME);
    expect(found.equals(FILE) || (old && found.equals(OLD))).toBe(true);
  } else expect(old).toBe(false);
  const parts = (await place.names()).filter((name) => name !== NAME);
  expect(parts).toEqual(parts.length > 0 ? [expect.stringMatching(/^\.primary\.htm\.\w{8}\.filings-part$/)] : []);
  const { exitCode, stderr } = await place.filings(argumentsFor(old), env);
  expect(exitCode, stderr).toBe(0);
  expect((await place.read(NAME)).equals(FILE)).toBe(true);
  // The part of the killed run stays for a day.
  expect(await place.names()).toEqual([...parts, NAME]);
}
