import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, type Workplace, workplace } from './program.ts';

// One file whose download is killed, with an old file under its name or none.

/** Each write takes 1 MiB at the most, and some more: there are at least four. */
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

/** The final name is absent, old, or whole; a rerun completes it, and leaves nothing else. */
export async function expectSoundThenComplete(place: Workplace, old: boolean, env: Record<string, string>) {
  if ((await place.names()).includes(NAME)) {
    const found = await place.read(NAME);
    expect(found.equals(FILE) || (old && found.equals(OLD))).toBe(true);
  } else expect(old).toBe(false);
  const { exitCode, stderr } = await place.filings(argumentsFor(old), env);
  expect(exitCode, stderr).toBe(0);
  expect((await place.read(NAME)).equals(FILE)).toBe(true);
  expect(await place.names()).toEqual([NAME]);
}
