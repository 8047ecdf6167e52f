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

/** What is counted, its bound, and what it comes to. */
const BUDGET = [
  ['lines of src', 14_000, lines(src)],
  ['characters of src', 580_000, sum(src.map((path) => text(path).length))],
  ['files of src', 200, src.length],
  ['folders of src', 32, new Set(src.map(dirname)).size],
  ['files that a download loads', 100, loadedBy(join(root, 'src/commands/download/run.ts')).size],
  ['lines of bin', 80, lines(files('bin', 'js'))],
  ['lines of test', 18_000, lines(files('test', ''))],
  ['lines of scripts and bench', 4200, lines([...files('scripts', 's'), ...files('bench', 's')])],
  ['words of README.md', 1300, words('README.md')],
  ['words of ARCHITECTURE.md', 2000, words('ARCHITECTURE.md')],
  ['words of CONTRIBUTING.md', 900, words('CONTRIBUTING.md')],
  ['words of docs/', 7000, words(...pages.map((page) => `docs/${page}`))],
];

for (const [what, bound, count] of BUDGET) {
  process.stdout.write(`${what.padEnd(30)} ${String(count).padStart(8)} of ${bound}\n`);
  if (count > bound) fail(`over the budget: ${what}`);
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
