// Checks what the documents say against the tree: every source file has its place in ARCHITECTURE.md, every test that
// docs/guarantees.md names is there, every link between documents leads somewhere.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const read = (path) => readFileSync(join(root, path), 'utf8');
const faults = [...sources(), ...tests(), ...links()];
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (faults.length > 0) process.exitCode = 1;

/** The sections "### src/http/" of ARCHITECTURE.md name the files of that folder, and no others. */
function* sources() {
  const sections = read('ARCHITECTURE.md').split(/^### (?=src\/)/m);
  const named = new Set();
  for (const section of sections.slice(1)) {
    const folder = /^\S+/.exec(section)?.[0];
    for (const row of section.split('\n').filter((line) => line.startsWith('| `'))) {
      for (const [, name] of row.split(' | ')[0].matchAll(/`([\w.-]+\.ts)`/g)) named.add(`${folder}${name}`);
    }
  }
  const present = new Set(files('src', '.ts'));
  for (const path of present) if (!named.has(path)) yield `ARCHITECTURE.md: ${path} has no line`;
  for (const path of named) if (!present.has(path)) yield `ARCHITECTURE.md: ${path} is not there`;
}

/** `test/cli/kill.test.ts`: "a title", "another" */
function* tests() {
  const page = read('docs/guarantees.md');
  for (const [, path, titles] of page.matchAll(/`(test\/[\w./-]+)`((?:[:,] "[^"]+")*)/g)) {
    if (!existsSync(join(root, path))) {
      yield `docs/guarantees.md: ${path} is not there`;
      continue;
    }
    const source = read(path);
    for (const [, title] of titles.matchAll(/"([^"]+)"/g)) {
      if (!source.includes(title)) yield `docs/guarantees.md: ${path} has no test "${title}"`;
    }
  }
}

function* links() {
  for (const page of [...files('.', '.md', false), ...files('docs', '.md')]) {
    for (const [, target] of read(page).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)) {
      if (!existsSync(join(root, dirname(page), target))) yield `${page}: ${target} is not there`;
    }
  }
}

function files(folder, ending, deep = true) {
  return readdirSync(join(root, folder), { recursive: deep })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}
