import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

/** A text of a source file, and its replacement. */
export type Edit = readonly [file: string, from: string, to: string];

/** Starts a background flush after 256 kB instead of 128 MiB, so that a file of 1.4 MB is enough to see one. */
export const OFTEN: Edit = ['src/disk/output-file.ts', '128 << 20', '256 << 10'];

/** Builds with an intended defect. The search must find a fault in each of them. */
export const MUTANTS: Readonly<Record<string, Edit>> = {
  'no flush before the rename': ['src/transfer/part.ts', 'await file.flush();\n        if (!(await', 'if (!(await'],
  'the directory is not flushed': ['src/transfer/part.ts', 'await directory.flush();', ''],
  'a new directory’s entry is not flushed': [
    'src/disk/directory.ts',
    'new Directory(path, NOTHING_HIDDEN, true, parent.flush())',
    'new Directory(path, NOTHING_HIDDEN, true, undefined)',
  ],
  'the done line before the files': ['src/batch/recorder.ts', 'if (filing.missing > 0) return;', ''],
  'what a killed run left is not flushed': ['src/disk/directory.ts', 'if (!this.#isWritten) await this.flush();', ''],
  'checksums are not flushed before the done line': [
    'src/batch/recorder.ts',
    'await this.#options.beforeDone();\n      await this.#options.done',
    'await this.#options.done',
  ],
};

/** Builds the program with changed sources. Returns the folder, which the caller removes. */
export async function variant(edits: readonly Edit[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'filings-variant-'));
  for (const name of ['bin', 'src', 'scripts', 'samples', 'package.json'])
    await cp(join(ROOT, name), join(folder, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const [file, from, to] of edits) {
    const path = join(folder, file);
    const source = await readFile(path, 'utf8');
    if (source.split(from).length !== 2) throw new Error(`${file} does not have exactly one "${from}" to change`);
    await writeFile(
      path,
      source.replace(from, () => to),
    );
  }
  execFileSync(process.execPath, [join(folder, 'scripts/build.js')], { stdio: 'inherit' });
  return folder;
}
