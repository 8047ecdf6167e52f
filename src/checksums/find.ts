import { opendirSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type ByteText, bytesOf, byteText } from '../disk/byte-text.ts';
import { readFailure } from '../disk/failure.ts';
import { isPartLike } from '../disk/file-name.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { SUMS_NAME } from './read.ts';
import { joined, type SumsDirectory, type Turn, type Unreadable } from './verify.ts';

const ENTRIES_A_READ = 512;

/** The directories to look through, absolute and without links, each with its name for people. */
export type Roots = ReadonlyMap<ByteText, ByteText>;

/** The directories that were named, each once. Throws `usage` for what is no directory, `local_io`. */
export async function rootsOf(directories: readonly string[], cwd: string): Promise<Roots> {
  const roots = new Map<ByteText, ByteText>();
  for (const shown of directories) {
    const real = byteText(await realDirectory(shown, cwd));
    // Without `./` before it and slashes behind it.
    const plain = shown.replace(/^(?:\.\/+)+(?=.)/, '').replace(/(?<=.)\/+$/, '');
    if (!roots.has(real)) roots.set(real, byteText(plain));
  }
  return roots;
}

async function realDirectory(shown: string, cwd: string): Promise<string> {
  if (shown === '') throw new FilingsError('usage', 'DIRECTORY: must be a directory, and is empty');
  try {
    // The slash: of a file it is an error.
    return await realpath(`${resolve(cwd, shown)}/`);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno !== 'ENOENT' && errno !== 'ENOTDIR') throw readFailure(error, shown);
    const why = errno === 'ENOENT' ? 'there is no such directory' : 'it is not a directory';
    throw new FilingsError('usage', `${shown}: ${why}`, { hint: 'name the directory that was downloaded to' });
  }
}

/**
 * The directories from the roots down that have a SHA256SUMS, each once and before those below it; no link is followed.
 * Parts and records are no files of theirs. Throws what `turn` throws.
 */
export async function* findDirectories(roots: Roots, turn: Turn): AsyncGenerator<SumsDirectory | Unreadable> {
  const waiting = [...roots].reverse();
  for (let place = waiting.pop(); place; place = waiting.pop()) {
    const [path, shown] = place;
    const found = await contentsOf(path, turn).catch((error: unknown) => {
      if (error instanceof FilingsError || errnoOf(error) === undefined) throw error;
      return { result: 'unreadable', path: shown, error } as const;
    });
    if ('error' in found) {
      yield found;
      continue;
    }
    if (found.hasSums) yield { path, shown, names: found.names };
    for (const name of found.below.reverse()) {
      const inner = joined(path, name);
      if (!roots.has(inner)) waiting.push([inner, joined(shown, name)]);
    }
  }
}

interface Contents {
  hasSums: boolean;
  readonly names: ByteText[];
  readonly below: ByteText[];
}

async function contentsOf(path: ByteText, turn: Turn): Promise<Contents> {
  const contents: Contents = { hasSums: false, names: [], below: [] };
  // Names are bytes, which Node's types do not know here.
  const options = { encoding: 'buffer' as BufferEncoding, bufferSize: ENTRIES_A_READ };
  const directory = opendirSync(bytesOf(`${path}/.`), options);
  try {
    for (let entry = directory.readSync(); entry; entry = directory.readSync()) {
      const name = (entry.name as unknown as Buffer).toString('latin1');
      if (entry.isDirectory()) contents.below.push(name);
      else if (name === SUMS_NAME) contents.hasSums = true;
      else if (!isPartLike(name)) contents.names.push(name);
      await turn();
    }
  } finally {
    directory.closeSync();
  }
  return contents;
}
