// Checks the imports of src/. An import leads down a layer or stays in its folder, no imports form a circle, each library
// is imported in one place, and nothing imports `process`. The drawing in ARCHITECTURE.md shows the same layers.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The layers from top to bottom. Folders of one layer do not import each other, and neither do those of commands/. */
const LAYERS = [
  ['main.ts'],
  ['cli/'],
  ['commands/'],
  ['session/'],
  ['batch/', 'sandbox/'],
  ['transfer/', 'settings/', 'input/'],
  ['service/', 'jwt/', 'terminal/', 'checksums/'],
  ['http/', 'stdio/'],
  ['disk/', 'spec/'],
  ['world.ts', 'secrets.ts', 'errors.ts', 'abort.ts', 'json.ts', 'loopback.ts', 'paths.ts', 'text.ts'],
];

/** Each library and the only place that imports it. */
const LIBRARIES = {
  commander: 'cli/',
  undici: 'http/connections.ts',
  jose: 'jwt/',
  '@jmespath-community': 'service/expression.ts',
  zod: 'settings/config-check.ts',
  chalk: 'terminal/messages.ts',
  'cli-progress': 'terminal/bar.ts',
  'string-width': 'terminal/width.ts',
};

const root = join(import.meta.dirname, '..');
const sources = readdirSync(join(root, 'src'), { recursive: true }).filter((name) => name.endsWith('.ts'));
const EVERY = /(?:^(?:import|export)[^'"]*?from |^import |\bimport\()'([^']+)'/gm;
/** Types and `import()` load nothing at the start, so they make no circle. */
const AT_START = /(?:^(?:import|export)(?! type)[^'"]*?from |^import )'([^']+)'/gm;

const faults = [...sources.flatMap((from) => importsOf(from, EVERY).flatMap((to) => faultOf(from, to))), ...circles()];
const drawn = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').matchAll(/^ *\d+ {2,}((?:[\w-]+(?:\/|\.ts) *)+)/gm);
const sorted = (names) => [...names].sort().join(' ');
if ([...drawn].map(([, names]) => sorted(names.trim().split(/ +/))).join() !== LAYERS.map(sorted).join()) {
  faults.push('ARCHITECTURE.md: the drawing does not show the layers of scripts/check-layers.js');
}
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (faults.length > 0) process.exitCode = 1;

/** The imports of a file: files by their path below src/, and libraries by name. */
function importsOf(name, pattern) {
  const found = readFileSync(join(root, 'src', name), 'utf8').matchAll(pattern);
  return [...found].map(([, target]) => (target.startsWith('.') ? join(dirname(name), target) : target));
}

function faultOf(from, to) {
  if (/^(node:)?process$/.test(to)) return [`src/${from}: takes process itself, not from the World`];
  if (to.startsWith('node:')) return [];
  if (!to.endsWith('.ts')) {
    const library = to.split('/')[0];
    const owner = LIBRARIES[library] ?? 'nobody';
    return from.startsWith(owner) ? [] : [`src/${from}: ${library} is imported by ${owner}`];
  }
  const [upper, lower] = [layerOf(from), layerOf(to)];
  if (upper < 0) return [`src/${from}: is in no layer`];
  return lower > upper || folderOf(from) === folderOf(to) ? [] : [`src/${from}: imports ${to}, which is not below it`];
}

function layerOf(name) {
  return LAYERS.findIndex((layer) => layer.some((place) => name === place || name.startsWith(place)));
}

/** The folder that a file belongs to. Each command is a folder of its own, and the files of the base share one. */
function folderOf(name) {
  const depth = name.startsWith('commands/') ? 2 : 1;
  return name.includes('/') ? name.split('/').slice(0, depth).join('/') : layerOf(name);
}

/** Files that import each other. */
function circles() {
  const done = new Set();
  const walk = (name, trail) => {
    if (trail.includes(name)) return [`a circle: ${[...trail.slice(trail.indexOf(name)), name].join(' -> ')}`];
    if (done.has(name)) return [];
    done.add(name);
    const below = importsOf(name, AT_START).filter((to) => to.endsWith('.ts'));
    return below.flatMap((to) => walk(to, [...trail, name]));
  };
  return sources.flatMap((name) => walk(name, []));
}
