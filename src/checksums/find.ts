import { opendirSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { systemReason } from '../disk/failure.ts';
import { isPartLike } from '../disk/file-name.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { type ByteText, bytesOf, byteText, SUMS_NAME } from './read.ts';
import { type Finding, joined, type SumsDirectory, type Turn } from './verify.ts';

const ENTRIES_A_READ = 512;

/** Absolute and without links, each with its name for people. */
export type Roots = ReadonlyMap<ByteText, ByteText>;

/** The named directories, each once. Throws `usage`. */
export async function rootsOf(directories: readonly string[], cwd: string): Promise<Roots> {
  const roots = new Map<ByteText, ByteText>();
  for (const shown of directories) {
    // The slash: of a file it is an error.
    const real = await realpath(shown && `${resolve(cwd, shown)}/`).catch((cause) => {
      throw new FilingsError('usage', `${shown || "''"}: cannot be opened: ${systemReason(cause)}`, {
        hint: 'name the directory that was downloaded to',
        cause,
      });
    });
    if (!roots.has(byteText(real))) roots.set(byteText(real), byteText(shown));
  }
  return roots;
}

/** Those with a SHA256SUMS, each once and before those below it; no link is followed. Throws what `turn` throws. */
export async function* findDirectories(roots: Roots, turn: Turn): AsyncGenerator<SumsDirectory | Finding> {
  const waiting = [...roots].reverse();
  for (let place = waiting.pop(); place; place = waiting.pop()) {
    const [path, shown] = place;
    try {
      const { hasSums, names, below } = await contentsOf(path, turn);
      if (hasSums) yield { path, shown, names };
      for (const name of below.reverse()) {
        const inner = joined(path, name);
        if (!roots.has(inner)) waiting.push([inner, joined(shown, name)]);
      }
    } catch (error) {
      if (error instanceof FilingsError || errnoOf(error) === undefined) throw error;
      yield { result: 'unreadable', path: shown, error };
    }
  }
}

async function contentsOf(path: ByteText, turn: Turn) {
  const contents = { hasSums: false, names: [] as ByteText[], below: [] as ByteText[] };
  const directory = opendirSync(bytesOf(`${path}/.`), { encoding: 'latin1', bufferSize: ENTRIES_A_READ });
  try {
    for (let entry = directory.readSync(); entry; entry = directory.readSync()) {
      const { name } = entry;
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
