import { join } from 'node:path';
import type { Directory } from '../../../disk/directory/directory.ts';
import { diskFailure } from '../../../disk/failure.ts';
import type { Heartbeat } from '../../../disk/owner/heartbeat.ts';
import type { Owner } from '../../../disk/owner/owner.ts';
import type { Leftovers } from './leftovers.ts';
import { baseOf } from './part-name.ts';
import type { Identity } from './resume-record.ts';

/** Where parts live, and for which file. */
export interface PartPlace {
  readonly directory: Directory;
  readonly leftovers: Leftovers;
  readonly heartbeat: Heartbeat;
  readonly final: string;
  readonly owner: Owner;
  readonly uid: number | undefined;
  /** Tells the parts of this process apart. */
  readonly nextSerial: () => string;
  readonly identity: Identity;
}

/** The final path, for people. */
export function shownPath({ directory, final }: Pick<PartPlace, 'directory' | 'final'>): string {
  return join(directory.path, final);
}

/** Makes an empty part under a name that no other run has, and gives that name's base. Throws what the system says. */
export async function newPart({ directory, leftovers, final }: PartPlace) {
  const { name, handle } = await directory.create(leftovers.partNamesFor(final), 0o666);
  return { base: baseOf(name), handle };
}

/** Errors of the disk name the final path. */
export async function guarded<T>(place: PartPlace, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw diskFailure(error, shownPath(place));
  }
}

export async function dropQuietly({ directory }: Pick<PartPlace, 'directory'>, path: string): Promise<void> {
  await directory.disk.unlink(path).catch(() => {});
}
