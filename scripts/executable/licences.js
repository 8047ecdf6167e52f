// The licences of all that an executable holds: the project's own, those of the packages that are bundled, and that of
// Node with the libraries within it, which comes with each way to have Node.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** How Node's own text begins; what else stands in such a place is another program's. */
const NODES = 'Node.js is licensed for use as follows:';

/** Where Node's licence is, from its program: an archive or package of it; a copy beside it; Debian's packages. */
const placesFor = (node) => [
  join(dirname(node), '..', 'LICENSE'),
  join(dirname(node), 'LICENSE'),
  '/usr/share/doc/nodejs/LICENSE',
];

/** Throws where the Node at a path came without its licence: what is made of it may not be given away. */
export function nodeLicence(node) {
  for (const place of placesFor(node).filter((path) => existsSync(path))) {
    const text = readFileSync(place, 'utf8');
    if (text.startsWith(NODES)) return text;
  }
  throw new Error(`${node}: no licence of Node is at ${placesFor(node).join(', ')}: take a Node of nodejs.org`);
}

/** The text that goes with an executable of the project in `root` and the Node at a path, links followed. */
export function executableLicences(root, node) {
  const line = `\n${'='.repeat(80)}\n\n`;
  return [
    readFileSync(join(root, 'LICENSE'), 'utf8'),
    readFileSync(join(root, 'THIRD-PARTY-LICENSES'), 'utf8'),
    `It holds Node.js, too.\n\n${nodeLicence(node)}`,
  ].join(line);
}
