// Checks the size of the whole repository against its budget, because a tree of small files can still grow too large.
// Comments are free: a budget that counted them would make them shorter instead of clearer. Also checks that no name is
// exported by two files, so that each name has one meaning.
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
/** Lines that are neither blank nor only a comment. */
const codeLines = (paths) =>
  paths.flatMap((path) => text(path).split('\n')).filter((line) => !/^\s*(\/\/|\/?\*|$)/.test(line));
const words = (...pages) => sum(pages.map((page) => text(join(root, page)).split(/\s+/).filter(Boolean).length));

const src = files('src', '.ts');
const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));

const code = codeLines(src);

/** Name, value and bound of each measure. */
const BUDGET = [
  ['code lines of src', code.length, 14_200],
  ['mean length of a code line', Math.round(sum(code.map((line) => line.length)) / code.length), 46],
  ['files of src', src.length, 180],
  ['folders of src', new Set(src.map(dirname)).size, 30],
  ['files that a download loads', loadedBy(join(root, 'src/commands/download/run.ts')).size, 107],
  ['lines of bin', lines(files('bin', 'js')), 80],
  ['code lines of test', codeLines(files('test', '.ts')).length, 21_600],
  ['lines of scripts and bench', lines([...files('scripts', 's'), ...files('bench', 's')]), 4000],
  ['words of README.md', words('README.md'), 1300],
  ['words of ARCHITECTURE.md', words('ARCHITECTURE.md'), 2000],
  ['words of CONTRIBUTING.md', words('CONTRIBUTING.md'), 1000],
  ['words of CHANGELOG.md', words('CHANGELOG.md'), 400],
  ['words of docs/', words(...pages.map((page) => `docs/${page}`)), 8500],
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

/** A file and its imports, except types and `import()`. */
function loadedBy(path, found = new Set()) {
  if (found.has(path) || !existsSync(path)) return found;
  found.add(path);
  for (const [, target] of text(path).matchAll(/^(?:import|export)(?! type)[^'"]*?from '(\.[^']+)'/gm)) {
    loadedBy(join(dirname(path), target), found);
  }
  return found;
}

/** Names that two files export, except those of commands, which share `run` and the name of their spec. */
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
