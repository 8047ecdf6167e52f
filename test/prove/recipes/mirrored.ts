import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BIN, NODE } from '../../cli/program.ts';
import type { Place } from '../../program/place.ts';
import { head, rangeStart, sendFile } from '../../servers/answers.ts';
import { accession, type Filings, type Instead } from '../../servers/archive.ts';

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

/** Writes a script `filings` into the home of a place. It runs the built program by default. Returns a PATH with it. */
export async function programAt({ write }: Place, script = `exec ${PROGRAM} "$@"`): Promise<string> {
  const program = await write('../bin/filings', `#!/bin/sh\n${script}\n`, 0o755);
  return `${dirname(program)}:${process.env.PATH ?? ''}`;
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

/** A file that can be resumed. */
export const LARGE = Buffer.alloc(3_000_000, 'a large exhibit ');
export const SENT_BYTES = 2_000_000;

/** Serves {@link LARGE} as one file. The first response stalls after some bytes. */
export function stallingOnce(number: string, file: string) {
  /** The first bytes of the requested ranges. */
  const starts: (number | undefined)[] = [];
  const instead: Instead = (socket, { accession: of, name, request }) => {
    if (of !== number || name !== file) return false;
    starts.push(rangeStart(request));
    if (starts.length > 1) sendFile(socket, request, LARGE, '"v1"');
    else {
      socket.write(head(200, { 'Content-Length': LARGE.length, ETag: '"v1"' }));
      socket.write(LARGE.subarray(0, SENT_BYTES));
    }
    return true;
  };
  /** Whether the part in a directory has all bytes that were sent. */
  const hasStalled = async (directory: string) => {
    const names = await readdir(directory).catch(() => []);
    const parts = names.filter((name) => name.startsWith(`.${file}.`)).map((name) => stat(join(directory, name)));
    return (await Promise.all(parts)).some(({ size }) => size === SENT_BYTES);
  };
  return { starts, instead, hasStalled };
}
