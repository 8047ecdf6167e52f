// Finds the directories that have a SHA256SUMS, for `filings verify`, and lists the files in each of them. A finding is
// a result that `verify` prints, here that a directory cannot be read.
import { opendir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isSystemError } from '../disk/failure.ts';
import { isKeptPartName, isWorkingPartName } from '../disk/part-name.ts';
import { isUtf8Path } from '../paths.ts';
import { SUMS_NAME } from './format.ts';
import type { Finding, SumsDirectory } from './verify.ts';

/**
 * Searches `roots`, which are paths as the user wrote them, and all directories below them. Yields each directory that
 * has a SHA256SUMS, before the directories below it. For a directory that cannot be read, yields a finding instead and
 * goes on. A root may be a symbolic link. A link below a root is not followed: it is treated as a file.
 */
export async function* findDirectories(roots: readonly string[], cwd: string): AsyncGenerator<SumsDirectory | Finding> {
  // A stack, so that directories come in the order of a recursive walk. Its end is taken first, so all lists are
  // reversed.
  const waiting = [...roots].reverse();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const absolute = resolve(cwd, path);
    if (!isUtf8Path(absolute)) {
      const reason = 'its path is not UTF-8, so nothing in it was checked';
      yield { result: 'damaged', path: path.replaceAll('\ufffd', '\\ufffd'), reason, hint: 'rename the directory' };
      continue;
    }
    try {
      const { hasSums, names, below } = await readContents(absolute);
      if (hasSums) yield { path: absolute, displayPath: path, names };
      for (const name of below.reverse()) waiting.push(join(path, name));
    } catch (error) {
      if (!isSystemError(error)) throw error;
      yield { result: 'unreadable', path, error };
    }
  }
}

/** Returns the names in a directory: `below` are subdirectories, `names` everything else that `verify` looks at. */
async function readContents(path: string) {
  const contents = { hasSums: false, names: [] as string[], below: [] as string[] };
  // By default, only 32 entries are read at a time.
  for await (const entry of await opendir(path, { bufferSize: 1024 })) {
    const { name } = entry;
    if (entry.isDirectory()) contents.below.push(name);
    else if (name === SUMS_NAME) contents.hasSums = true;
    // Unfinished downloads of this program are left out, whether a run still writes them (working parts) or has kept
    // them (kept parts): no SHA256SUMS lists them, so `verify` would report each as unlisted.
    else if (!isWorkingPartName(name) && !isKeptPartName(name)) contents.names.push(name);
  }
  return contents;
}
