// Checks the imports of src/ against the floors: an import must lead down a floor or stay in its folder, no imports
// form a cycle, and only the files of the table import a library. The drawing in ARCHITECTURE.md must show the same
// floors.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');

/**
 * The floors from top to bottom. Folders of one floor do not import each other, and neither do the folders of
 * commands/.
 */
const FLOORS = [
  ['main.ts'],
  ['cli/'],
  ['commands/'],
  ['session/', 'help/'],
  ['batch/', 'sandbox/'],
  ['transfer/', 'checksums/', 'settings/', 'input/'],
  ['service/', 'jwt/', 'terminal/'],
  ['http/', 'stdio/'],
  ['disk/', 'spec/'],
  [
    ...['world.ts', 'secrets.ts', 'errors.ts', 'abort.ts', 'json.ts'],
    ...['large-map.ts', 'loopback.ts', 'paths.ts', 'text.ts', 'decoding/'],
  ],
];

/**
 * The floors inside a folder, from top to bottom. Files that are not listed are on the lowest floor. Files of one floor
 * do not import each other, except types, which load nothing.
 */
const INSIDE = {
  'batch/': [['batch'], ['recorder', 'selection'], ['files', 'report'], ['name-check']],
  'transfer/': [
    ['download'],
    ['transfer', 'directories', 'part/part-file', 'pipe', 'spool'],
    ['part/commit'],
    ['part/leftovers'],
    ['part/record'],
  ],
  'http/': [['request'], ['connections'], ['proxy'], ['retry']],
};

/** Each library and its importers. Node's own modules are free, except `process`. */
const LIBRARIES = {
  commander: ['cli/', 'help/layout.ts'],
  undici: ['http/connections.ts'],
  jose: ['jwt/'],
  '@jmespath-community': ['service/described-listing.ts'],
  zod: ['settings/config-check.ts'],
  chalk: ['terminal/messages.ts'],
  'cli-progress': ['terminal/bars.ts'],
  'string-width': ['terminal/width.ts'],
};

const sources = readdirSync(join(root, 'src'), { recursive: true }).filter((name) => name.endsWith('.ts'));
const STATIC = /(?:^(?:import|export)(?! type)[^'"]*?from |^import )'([^']+)'/gm;
const EVERY = /(?:^(?:import|export)[^'"]*?from |^import |\bimport\()'([^']+)'/gm;

const faults = sources.flatMap((from) => importsOf(from, EVERY).flatMap((to) => fault(from, to) ?? []));
faults.push(...Object.keys(INSIDE).flatMap(insideFaults));
const cycle = findCycle();
if (cycle) faults.push(`a circle: ${cycle.join(' -> ')}`);
const drawn = [
  ...readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').matchAll(/^ *\d+ {2,}((?:[\w-]+(?:\/|\.ts) *)+)/gm),
];
const drawing = drawn.map(([, names]) => names.trim().split(/ +/).sort().join(' '));
if (drawing.join() !== FLOORS.map((floor) => [...floor].sort().join(' ')).join()) {
  faults.push('ARCHITECTURE.md: the drawing does not show the floors of scripts/check-floors.js');
}
for (const text of faults) process.stderr.write(`${text}\n`);
if (faults.length > 0) process.exitCode = 1;

/** The imports of a file: files below src/, and libraries by name. */
function importsOf(name, pattern) {
  const text = readFileSync(join(root, 'src', name), 'utf8');
  const found = text.matchAll(pattern);
  return [...found].map(([, target]) => (target.startsWith('.') ? join(dirname(name), target) : target));
}

function fault(from, to) {
  if (/^(node:)?process$/.test(to)) return `src/${from}: takes process itself, not from the World`;
  if (to.startsWith('node:')) return undefined;
  if (!to.endsWith('.ts')) {
    const library = to.split('/')[0];
    const owners = LIBRARIES[library] ?? [];
    if (owners.some((owner) => from.startsWith(owner))) return undefined;
    return `src/${from}: ${library} is imported by ${owners.join(' and ') || 'nobody'}`;
  }
  const [upper, lower] = [floorOf(from), floorOf(to)];
  if (upper < 0) return `src/${from}: stands on no floor`;
  if (lower > upper || sameHouse(from, to)) return undefined;
  return `src/${from}: imports ${to}, which is not below it`;
}

/** Imports inside a folder that do not lead down, and listed files that do not exist. */
function insideFaults(folder) {
  const floors = INSIDE[folder];
  const inside = sources.filter((name) => name.startsWith(folder));
  const floorOf = (name) => {
    const found = floors.findIndex((floor) => floor.includes(name.slice(folder.length, -'.ts'.length)));
    return found < 0 ? floors.length : found;
  };
  const gone = floors.flat().filter((name) => !inside.includes(`${folder}${name}.ts`));
  const upward = inside.flatMap((from) =>
    importsOf(from, STATIC)
      .filter((to) => inside.includes(to) && floorOf(to) <= floorOf(from))
      .map((to) => `src/${from}: imports ${to}, which is not below it`),
  );
  return [...gone.map((name) => `scripts/check-floors.js: src/${folder}${name}.ts is not there`), ...upward];
}

function floorOf(name) {
  return FLOORS.findIndex((floor) => floor.some((place) => name === place || name.startsWith(place)));
}

/** Returns whether two files are in one folder of src/ or of commands/. The files of the base count as one folder. */
function sameHouse(from, to) {
  if (floorOf(from) === FLOORS.length - 1) return floorOf(to) === floorOf(from);
  const house = (name) =>
    name
      .split('/')
      .slice(0, name.startsWith('commands/') ? 2 : 1)
      .join('/');
  return house(from) === house(to);
}

/**
 * Files that import each other in a cycle. Types and `import()` do not count, because they load nothing at the start.
 */
function findCycle() {
  const done = new Set();
  const walk = (name, trail) => {
    if (trail.includes(name)) return [...trail.slice(trail.indexOf(name)), name];
    if (done.has(name)) return undefined;
    for (const to of importsOf(name, STATIC)) {
      const found = to.endsWith('.ts') ? walk(to, [...trail, name]) : undefined;
      if (found) return found;
    }
    done.add(name);
    return undefined;
  };
  for (const name of sources) {
    const found = walk(name, []);
    if (found) return found;
  }
  return undefined;
}
