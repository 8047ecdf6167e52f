// Holds the sums against the budget: one file is easily kept small, and the whole grows all the same. Also: no name is
// exported twice, so that a name means one thing.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const files = (folder, ending) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map(({ parentPath, name }) => join(parentPath, name));
const text = (path) => readFileSync(path, 'utf8');
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const lines = (paths) => sum(paths.map((path) => text(path).split('\n').length - 1));
const words = (...pages) => sum(pages.map((page) => text(join(root, page)).split(/\s+/).filter(Boolean).length));

const src = files('src', '.ts');
const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));

/** What is counted, what it comes to, and its bound. */
const BUDGET = [
  ['lines of src', lines(src), 14_000],
  ['characters of src', sum(src.map((path) => text(path).length)), 580_000],
  ['files of src', src.length, 200],
  ['folders of src', new Set(src.map(dirname)).size, 32],
  ['files that a download loads', loadedBy(join(root, 'src/commands/download/run.ts')).size, 100],
  ['lines of bin', lines(files('bin', 'js')), 80],
  ['lines of test', lines(files('test', '')), 18_000],
  ['lines of scripts and bench', lines([...files('scripts', 's'), ...files('bench', 's')]), 4200],
  ['words of README.md', words('README.md'), 1300],
  ['words of ARCHITECTURE.md', words('ARCHITECTURE.md'), 2000],
  ['words of CONTRIBUTING.md', words('CONTRIBUTING.md'), 900],
  ['words of CHANGELOG.md', words('CHANGELOG.md'), 400],
  ['words of docs/', words(...pages.map((page) => `docs/${page}`)), 7000],
];

for (const [what, count, bound] of BUDGET) {
  process.stdout.write(`${what.padEnd(30)} ${String(count).padStart(8)} of ${bound}\n`);
  if (count > bound) fail(`over the budget: ${what}: ${count} of ${bound}`);
}
for (const name of exportedTwice()) fail(`exported twice: ${name}`);

function fail(why) {
  process.stderr.write(`${why}\n`);
  process.exitCode = 1;
}

/** A file and what it imports, but by `import()`; types are no code. */
function loadedBy(path, found = new Set()) {
  if (found.has(path) || !existsSync(path)) return found;
  found.add(path);
  for (const [, target] of text(path).matchAll(/^(?:import|export)(?! type)[^'"]*?from '(\.[^']+)'/gm)) {
    loadedBy(join(dirname(path), target), found);
  }
  return found;
}

/** But a command's `run`, and what its spec is called. */
function* exportedTwice() {
  const homes = new Map();
  for (const path of src) {
    for (const [, name] of text(path).matchAll(
      /^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm,
    )) {
      homes.set(name, (homes.get(name) ?? []).concat(path.slice(root.length + 1)));
    }
  }
  for (const [name, paths] of homes) {
    const isCommands = paths.every((path) => path.startsWith('src/commands/'));
    if (new Set(paths).size > 1 && !isCommands) yield `${name} (${paths.join(', ')})`;
  }
}
