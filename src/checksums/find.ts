// Finds the directories that have a SHA256SUMS, for `filings verify`, and lists the files in each of them.
import { opendir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isSystemError } from '../disk/failure.ts';
import { isKeptPartName, isWorkingPartName } from '../disk/part-name.ts';
import { isUtf8Path } from '../paths.ts';
import { SUMS_NAME } from './format.ts';
import type { Finding, SumsDirectory } from './verify.ts';

/**
 * Searches `roots`, which are paths as the user wrote them, and all directories below them. For a directory that cannot
 * be read, yields a finding and goes on. Only a root may be a symbolic link: other links are treated as files.
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

/** `below` are subdirectories, `names` everything else that `verify` looks at. */
async function readContents(path: string) {
  const contents = { hasSums: false, names: [] as string[], below: [] as string[] };
  // By default, only 32 entries are read at a time.
  for await (const entry of await opendir(path, { bufferSize: 1024 })) {
    const { name } = entry;
    if (entry.isDirectory()) contents.below.push(name);
    else if (name === SUMS_NAME) contents.hasSums = true;
    // No SHA256SUMS lists the parts of this program, so `verify` would report each as unlisted.
    else if (!isWorkingPartName(name) && !isKeptPartName(name)) contents.names.push(name);
  }
  return contents;
}
