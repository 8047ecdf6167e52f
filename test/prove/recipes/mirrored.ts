import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BIN, NODE } from '../../cli/program.ts';
import { accession, type Filings } from '../../servers/archive.ts';

/** The files of each filing. */
export const FILES = ['ex99.htm', 'form4.xml', 'primary.htm'];

/** Forty filings of three files each. */
export const FILINGS: Filings = Object.fromEntries(
  Array.from({ length: 40 }, (_, at) => [
    accession(at),
    Object.fromEntries(FILES.map((name, n) => [name, Buffer.alloc(3000 * (n + 1) + at, `${at}/${name} `)])),
  ]),
);

export const NUMBERS = Object.keys(FILINGS);

/** Writes a script `filings` into the `bin` of a home. It runs the built program by default. Returns a PATH with it. */
export async function programAt(home: string, script = `exec ${PROGRAM} "$@"`): Promise<string> {
  const folder = join(home, 'bin');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'filings'), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, 'filings'), 0o755);
  return `${folder}:${process.env.PATH ?? ''}`;
}

/** The command line of the built program, quoted for a shell. */
export const PROGRAM = `'${NODE}' '${BIN}'`;

/**
 * All files below a directory, also hidden ones, by path. Lines of checksum files are sorted, because their order is
 * that in which the downloads ended.
 */
export async function treeOf(directory: string): Promise<Record<string, string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name));
  const read = async (path: string) => {
    const text = (await readFile(path)).toString('latin1');
    return [path.slice(directory.length + 1), path.endsWith('SHA256SUMS') ? text.split('\n').sort().join('\n') : text];
  };
  return Object.fromEntries(await Promise.all(files.sort().map(read)));
}
