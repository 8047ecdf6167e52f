import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { diskFailure, readFailure } from '../../../disk/failure.ts';
import { whyNotPlain } from '../../../disk/plain-file.ts';
import { errnoOf, FilingsError } from '../../../errors.ts';

const { O_APPEND, O_CREAT, O_EXCL, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;

/** Whose file it is to be, and how an error tells which file it is about. */
export interface OwnFile {
  /** Absolute. */
  readonly path: string;
  /** As errors call it: `--done FILE`. */
  readonly shown: string;
  /** The user; undefined where the platform has none. */
  readonly uid: number | undefined;
}

/** What the system says of things that are no plain file. */
const NO_FILE: Readonly<Record<string, string>> = {
  EISDIR: 'it is a directory',
  ELOOP: 'it is a symbolic link, and is not followed',
  ENXIO: 'it is no plain file',
};

/**
 * Opens a file to read it and to append to it; a missing one is made. It stands where others may
 * write, too: nothing but a plain file of this user's with a single name is taken.
 * Throws `usage` for anything else; `local_io`.
 */
export async function openToAppend(file: OwnFile): Promise<FileHandle> {
  for (;;) {
    const there = await opened(file, O_RDWR | O_APPEND);
    if (there) return there;
    // Between the two somebody may have made it, or taken it away again.
    const made = await opened(file, O_RDWR | O_APPEND | O_CREAT | O_EXCL);
    if (made) return made;
  }
}

/** Opens a file under the same terms to read it; undefined for a missing one. */
export function openToRead(file: OwnFile): Promise<FileHandle | undefined> {
  return opened(file, O_RDONLY);
}

/** Undefined: it is not there, or, with O_EXCL, it is. */
async function opened(file: OwnFile, flags: number): Promise<FileHandle | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(file.path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  } catch (error) {
    const errno = errnoOf(error) ?? '';
    if (errno === ((flags & O_EXCL) === 0 ? 'ENOENT' : 'EEXIST')) return undefined;
    if (NO_FILE[errno] !== undefined) throw refused(file, NO_FILE[errno], error);
    throw flags === O_RDONLY ? readFailure(error, file.shown) : diskFailure(error, file.shown, 'choose another file');
  }
  const fault = faultOf(await handle.stat(), file.uid);
  if (fault === undefined) return handle;
  await handle.close();
  throw refused(file, fault);
}

function faultOf(stats: Stats, uid: number | undefined): string | undefined {
  const why = whyNotPlain(stats);
  if (why !== undefined) return why;
  if (uid !== undefined && stats.uid !== uid) return 'another user owns it';
  return stats.nlink > 1 ? 'it has a second name (a hard link)' : undefined;
}

function refused({ shown }: OwnFile, why: string, cause?: unknown): FilingsError {
  return new FilingsError('usage', `${shown}: ${why}`, {
    hint: 'choose another file: one of your own, or one that is not there yet',
    cause,
  });
}
