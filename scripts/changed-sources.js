// Replaces texts in the sources on purpose, so that tests can show that they find the defect.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/**
 * An esbuild plugin that makes these changes, each `{ file, from, to }`. Throws if `from` is not in the file exactly
 * once.
 */
export function withChanges(changes) {
  return {
    name: 'changed-sources',
    setup: ({ onLoad }) =>
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const here = changes.filter(({ file }) => join(root, file) === path);
        if (here.length === 0) return undefined;
        return { contents: here.reduce(changed, await readFile(path, 'utf8')), loader: 'ts' };
      }),
  };
}

/** Returns the source with one change. Throws if `from` is not in it exactly once. */
export function changed(source, { file, from, to }) {
  if (source.split(from).length !== 2) throw new Error(`${file} does not have exactly one "${from}" to change`);
  return source.replace(from, () => to);
}
