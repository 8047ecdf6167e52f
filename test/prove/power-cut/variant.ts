import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

const { changed } = (await import(join(ROOT, 'scripts/changed-sources.js'))) as {
  changed(source: string, edit: { file: string; from: string; to: string }): string;
};

/** A text of a source file, and its replacement. */
export type Edit = readonly [file: string, from: string, to: string];

/** Starts a background flush after 256 kB instead of 128 MiB, so that a file of 1.4 MB is enough to see one. */
export const OFTEN: Edit = ['src/disk/output-file.ts', '128 << 20', '256 << 10'];

/** Builds with an intended defect. The search must find a fault in each of them. */
export const MUTANTS: Readonly<Record<string, Edit>> = {
  'no flush before the rename': ['src/transfer/part/part-file.ts', 'await this.#file.flush();', ''],
  'the directory is not flushed': [
    'src/transfer/part/commit.ts',
    "return (await directory.flush()) ? 'committed' : 'partMissing';",
    "return 'committed';",
  ],
  'a new directory’s entry is not flushed': [
    'src/disk/directory.ts',
    'isNew ? this.flush().then(() => {})',
    'isNew ? Promise.resolve()',
  ],
  'the done line before the files': ['src/batch/recorder.ts', 'if (filing.missing > 0) return;', ''],
  'what a killed run left is not flushed': [
    'src/disk/directory.ts',
    'if (now - mtimeMs < MIN_WRITTEN_AGE_MS) await this.#flush();',
    '',
  ],
  'checksums are not flushed before the done line': ['src/batch/recorder.ts', 'await this.#options.beforeDone();', ''],
};

/** Builds the program with changed sources. Returns the folder, which the caller removes. */
export async function variant(edits: readonly Edit[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'filings-variant-'));
  for (const name of ['bin', 'src', 'scripts', 'samples', 'package.json'])
    await cp(join(ROOT, name), join(folder, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const [file, from, to] of edits) {
    const path = join(folder, file);
    await writeFile(path, changed(await readFile(path, 'utf8'), { file, from, to }));
  }
  execFileSync(process.execPath, [join(folder, 'scripts/build.js')], { stdio: 'inherit' });
  return folder;
}
