// What an executable brings along: the package's files that the program reads, and its own code.
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const OWN = ['package.json', 'completions', 'man', 'samples'];
const root = join(import.meta.dirname, '../..');

/** Each asset's file by its name, the code being in dist/ below a folder; `contents.json` names them all. */
export function assetsIn(folder) {
  const contents = join(folder, 'contents.json');
  const assets = {
    ...Object.fromEntries(OWN.flatMap((path) => filesOf(root, path))),
    ...Object.fromEntries(filesOf(folder, 'dist')),
  };
  writeFileSync(contents, JSON.stringify(Object.keys(assets)));
  return { ...assets, 'contents.json': contents };
}

/** The files at a path and below it, each with its place on disk. */
function filesOf(base, path) {
  const place = join(base, path);
  if (statSync(place).isFile()) return [[path, place]];
  return readdirSync(place).flatMap((name) => filesOf(base, `${path}/${name}`));
}
