import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { type ByteText, bytesOf } from '../../../disk/byte-text.ts';
import { belongsToSums, isSumsName, sumsRewrittenBy } from '../sums-name.ts';
import type { HeldDirectory } from './held-directory.ts';

/** So many names of a directory are remembered; a larger one is read twice. */
const MOST_NAMES = 32_768;
const ENTRIES_A_READ = 512;

/** A directory that has checksum files. */
export interface FoundDirectory {
  readonly held: HeldDirectory;
  /** For people. */
  readonly path: ByteText;
  /** The names of its checksum files. */
  readonly sums: readonly ByteText[];
  /** What broken-off rewrites left, by the checksum file's name. */
  readonly leftovers: ReadonlyMap<string, readonly ByteText[]>;
  /** All that is in it but directories and what belongs to checksum files; undefined: too many to remember. */
  readonly names: readonly ByteText[] | undefined;
}

export interface Walk {
  /** Told of a directory that can't be read; the others go on. */
  readonly onUnreadable: (path: ByteText, error: unknown) => void;
  readonly signal: AbortSignal;
}

/**
 * The directories from here down that have checksum files, one at a time, each after those below it; no link is followed.
 * Memory does not grow with what is there, and one descriptor is open for each level. The directory handed out is
 * released by its taker. Throws the signal's reason.
 */
export async function* findDirectories(
  held: HeldDirectory,
  path: ByteText,
  walk: Walk,
): AsyncGenerator<FoundDirectory> {
  const contents = new Contents();
  let mine = true;
  try {
    yield* lookThrough(held, path, contents, walk);
    if (contents.sums.length === 0) return;
    mine = false;
    yield { held, path, ...contents };
  } finally {
    if (mine) await held.release();
  }
}

async function* lookThrough(
  held: HeldDirectory,
  path: ByteText,
  contents: Contents,
  walk: Walk,
): AsyncGenerator<FoundDirectory> {
  try {
    for await (const entry of entriesOf(held)) {
      walk.signal.throwIfAborted();
      if (entry.isDirectory()) yield* below(held, nameOf(entry), path, walk);
      else contents.add(nameOf(entry));
    }
  } catch (error) {
    if (walk.signal.aborted) throw walk.signal.reason;
    walk.onUnreadable(path, error);
  }
}

/** What stands in a directory, sorted by what it is for. */
class Contents {
  readonly sums: ByteText[] = [];
  readonly leftovers = new Map<string, ByteText[]>();
  names: ByteText[] | undefined = [];

  add(name: ByteText): void {
    const rewritten = sumsRewrittenBy(name);
    if (rewritten !== undefined) this.leftovers.set(rewritten, [...(this.leftovers.get(rewritten) ?? []), name]);
    else if (isSumsName(name)) this.sums.push(name);
    else if (!belongsToSums(name) && this.names?.push(name) === MOST_NAMES) this.names = undefined;
  }
}

async function* below(
  held: HeldDirectory,
  name: ByteText,
  above: ByteText,
  walk: Walk,
): AsyncGenerator<FoundDirectory> {
  const path = joined(above, name);
  let child: HeldDirectory;
  try {
    child = await held.child(name);
  } catch (error) {
    walk.onUnreadable(path, error);
    return;
  }
  yield* findDirectories(child, path, walk);
}

/** All that is in a directory but directories and what belongs to checksum files. */
export async function* filesOf(held: HeldDirectory): AsyncGenerator<ByteText> {
  for await (const entry of entriesOf(held)) {
    const name = nameOf(entry);
    if (!entry.isDirectory() && !belongsToSums(name)) yield name;
  }
}

/** A name below a path, for people: without `./` in front. */
export function joined(path: ByteText, name: ByteText): ByteText {
  if (path === '.') return name;
  return path.endsWith('/') ? path + name : `${path}/${name}`;
}

function entriesOf(held: HeldDirectory): AsyncIterable<Dirent> {
  return {
    async *[Symbol.asyncIterator]() {
      // Names are bytes, which Node's types do not know here.
      const options = { encoding: 'buffer' as BufferEncoding, bufferSize: ENTRIES_A_READ };
      yield* await opendir(bytesOf(`${held.path}/.`), options);
    },
  };
}

function nameOf({ name }: Dirent): ByteText {
  return (name as unknown as Buffer).toString('latin1');
}
