import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type ByteText, byteText, readable } from '../../../disk/byte-text.ts';
import { readFailure } from '../../../disk/failure.ts';
import { errnoOf, FilingsError } from '../../../errors.ts';
import { type Checking, checkDirectory } from './check-directory.ts';
import type { Finding } from './findings.ts';
import { HashThreads, type ThreadOptions } from './hash-threads.ts';
import { HeldDirectory } from './held-directory.ts';
import { findDirectories } from './tree.ts';

/** A directory to look through. */
export interface Root {
  /** Absolute, without links. */
  readonly real: string;
  /** As it was named. */
  readonly shown: string;
}

/**
 * The directories to look through, each once: one that lies in another is looked through with that.
 * @throws FilingsError `usage` for what is no directory, `local_io`
 */
export async function rootsOf(directories: readonly string[], cwd: string): Promise<Root[]> {
  const roots: Root[] = [];
  for (const shown of directories) roots.push({ real: await realDirectory(shown, cwd), shown: plain(shown) });
  const within = (inner: Root, outer: Root) => inner.real.startsWith(outer.real === '/' ? '/' : `${outer.real}/`);
  const first = (root: Root) => roots.find(({ real }) => real === root.real);
  return roots.filter(
    (root) => first(root) === root && !roots.some((other) => other.real !== root.real && within(root, other)),
  );
}

async function realDirectory(shown: string, cwd: string): Promise<string> {
  if (shown === '') throw new FilingsError('usage', 'DIRECTORY: must be a directory, and is empty');
  try {
    // The slash: of a file it is an error.
    return await realpath(`${resolve(cwd, shown)}/`);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno !== 'ENOENT' && errno !== 'ENOTDIR') throw readFailure(error, shown);
    const why = errno === 'ENOENT' ? 'there is no such directory' : 'it is no directory';
    throw new FilingsError('usage', `${shown}: ${why}`, { hint: 'name the directory that was downloaded to' });
  }
}

/** Without `./` before it and slashes behind it. */
function plain(directory: string): string {
  return directory.replace(/^(?:\.\/+)+(?=.)/, '').replace(/(?<=.)\/+$/, '');
}

/**
 * Verifies all that the checksum files of these directories, and of those below them, list. What is found is told as it
 * is found. Throws the signal's reason, what `tell` throws; what was told by then stays right.
 */
export async function verify(
  roots: readonly Root[],
  wanted: Omit<Checking, 'threads'>,
  options: Omit<ThreadOptions, 'signal'>,
): Promise<void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([wanted.signal, stop.signal]);
  // What can't be told stops it all: nothing that is merely unreadable.
  const tell = (findings: readonly Finding[]) =>
    wanted.tell(findings).catch((error) => {
      stop.abort(error);
      throw error;
    });
  const threads = new HashThreads({ ...options, signal });
  try {
    for (const root of roots) await verifyBelow(root, { ...wanted, tell, signal, threads });
    await threads.done();
  } finally {
    await threads.close();
  }
}

async function verifyBelow({ real, shown }: Root, checking: Checking): Promise<void> {
  const onUnreadable = (path: ByteText, error: unknown) => {
    checking.counts.unreadable += 1;
    checking.fail(readFailure(error, readable(path)));
  };
  const held = await HeldDirectory.open(byteText(real)).catch((error) => onUnreadable(byteText(shown), error));
  if (!held) return;
  for await (const found of findDirectories(held, byteText(shown), { onUnreadable, signal: checking.signal })) {
    await checkDirectory(found, checking);
  }
}
