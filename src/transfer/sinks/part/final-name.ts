import { placeNew } from '../../../disk/place-new.ts';
import { errnoOf } from '../../../errors.ts';
import { placeUnderLock } from './name-lock.ts';
import { namesOf } from './part-name.ts';
import type { PartPlace } from './part-place.ts';

/** How a part gets its final name. */
export interface Placing {
  /** Nothing may stand there. */
  readonly exclusive: boolean;
  /** The permissions that the file is to have, unless new ones. */
  readonly mode?: number | undefined;
}

/** `taken`: something stood there already; `lost`: the part's own name is gone, and others may have its bytes. */
export type Placed = 'placed' | 'taken' | 'lost';

/** Gives the part of a base its final name in one step. Throws what the system says, the signal's reason. */
export async function giveFinalName(
  place: PartPlace,
  base: string,
  exclusive: boolean,
  signal: AbortSignal,
): Promise<Placed> {
  const { disk } = place.directory;
  const part = place.directory.entry(namesOf(base).part);
  const final = place.directory.entry(place.final);
  try {
    if (exclusive) {
      const placed = await placeNew(disk, part, final);
      if (placed !== 'no-links') return placed;
      return (await placeUnderLock(place, base, signal)) ? 'placed' : 'taken';
    }
    await disk.rename(part, final);
    return 'placed';
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 'lost';
    throw error;
  }
}
