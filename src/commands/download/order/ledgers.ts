import { lstat, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { whyNotPlain } from '../../../disk/plain-file.ts';
import { FilingsError } from '../../../errors.ts';
import type { World } from '../../../world.ts';
import type { Order } from './order.ts';

interface Named {
  /** The option, as it is typed. */
  readonly name: string;
  readonly path: string;
}

/** Files that are read and written by a run are different ones, by whatever path each is named. Throws `usage`. */
export async function requireLedgers(
  { input, report, options }: Order,
  { cwd, uid }: Pick<World, 'cwd' | 'uid'>,
): Promise<void> {
  const { failed, done } = options;
  for (const [name, path] of Object.entries({ failed, done })) {
    if (path === '-') throw new FilingsError('usage', `--${name}: must be a file, not -`, { hint: 'name a file' });
  }
  const named = Object.entries({ input, report, failed, done }).flatMap(([name, path]): Named[] =>
    path === undefined || path === '-' ? [] : [{ name: `--${name}`, path: resolve(cwd, path) }],
  );
  await requireFiles({ failed }, cwd);
  for (const one of named) if (one.name === '--report') await refuseForeignLink(one, uid);
  const seen = new Map<string, Named>();
  for (const one of named) {
    for (const identity of await identitiesOf(one.path)) {
      const other = seen.get(identity);
      if (other) throw sameFile(other, one);
      seen.set(identity, one);
    }
  }
}

/**
 * In a directory that others may write to, a link of theirs would lead what is written to a file of ours. Those of the
 * system (`/dev/stdout`) may belong to nobody that a container knows. Throws `usage`.
 */
async function refuseForeignLink({ name, path }: Named, uid: number | undefined): Promise<void> {
  const link = await lstat(path).catch(() => undefined);
  if (uid === undefined || !link?.isSymbolicLink() || /^\/(dev|proc)\//.test(path)) return;
  if (link.uid === uid || link.uid === 0) return;
  throw new FilingsError('usage', `${name} ${path}: it is another user's symbolic link`, {
    hint: 'name the file itself, or make the link anew',
  });
}

/** What is put in its place as a whole can't be a device or a FIFO, which would be gone for everybody. Throws `usage`. */
async function requireFiles(files: Readonly<Record<string, string | undefined>>, cwd: string): Promise<void> {
  for (const [name, path] of Object.entries(files)) {
    const there = path === undefined ? undefined : await stat(resolve(cwd, path)).catch(() => undefined);
    const why = there && whyNotPlain(there);
    if (why === undefined) continue;
    throw new FilingsError('usage', `--${name} ${path}: ${why}`, { hint: `name a file, or leave --${name} away` });
  }
}

/** What a file is known by: where it really is, and what stands there, which may have a second name. */
async function identitiesOf(path: string): Promise<readonly string[]> {
  const there = await stat(path, { bigint: true }).catch(() => undefined);
  // A terminal or a null device may well be named twice.
  if (there && !there.isFile()) return [];
  const directory = await realpath(dirname(path)).catch(() => dirname(path));
  const place = join(directory, basename(path));
  return there ? [place, `${there.dev}:${there.ino}`] : [place];
}

function sameFile(other: Named, one: Named): FilingsError {
  return new FilingsError('usage', `${other.name} and ${one.name}: they name the same file`, {
    hint: 'give each a file of its own',
  });
}
