import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the program brings along: beside it in a package, within it in an executable. Paths are those in the project. */
export interface OwnFiles {
  /** A file's bytes. Throws when it is not there. */
  read(path: string): Buffer;
  /** The paths of the files in one of its folders, and below that, sorted. */
  below(folder: string): readonly string[];
  /** Where a file or a folder stands, absolute; undefined in an executable. */
  placeOf(path: string): string | undefined;
}

/** A project's own folder, absolute. */
export function filesIn(root: string): OwnFiles {
  return {
    read: (path) => readFileSync(join(root, path)),
    below: (folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name).slice(join(root, '/').length))
        .sort(),
    placeOf: (path) => join(root, path),
  };
}

/** The assets of an executable; one of them, `CONTENTS`, names them all. */
export function filesWithin(asset: (key: string) => ArrayBuffer): OwnFiles {
  const read = (path: string) => Buffer.from(asset(path));
  return {
    read,
    below: (folder) => {
      const paths: readonly string[] = JSON.parse(read(CONTENTS).toString());
      return paths.filter((path) => path.startsWith(`${folder}/`)).sort();
    },
    placeOf: () => undefined,
  };
}

/** The asset that holds the paths of all others, as JSON. */
const CONTENTS = 'contents.json';

/** The built code of a thread, as `Worker` takes it: a file, or its text with `eval`. */
export interface ThreadCode {
  readonly code: string;
  readonly eval: boolean;
}

/** `name` is that of a file of dist/, without `.js`. */
export function threadCode(name: 'hash-worker' | 'hash-thread', own: OwnFiles): ThreadCode {
  const path = `dist/${name}.js`;
  const place = own.placeOf(path);
  return place === undefined ? { code: own.read(path).toString(), eval: true } : { code: place, eval: false };
}
