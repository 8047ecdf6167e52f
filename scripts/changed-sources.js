// Defects made on purpose: a text of a source, and what is put in its place.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** For esbuild: the sources with these changes, each `{ file, from, to }`. Throws where one would change nothing, or more than it means. */
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

/** A source with a change made; the text that it replaces has to stand there once. */
export function changed(source, { file, from, to }) {
  if (source.split(from).length !== 2) throw new Error(`${file} does not have exactly one "${from}" to change`);
  return source.replace(from, () => to);
}
