// Checks the documents against the repository. Every test that docs/guarantees.md names, every source file that a
// document names and every target of a link must exist. Links of pages in the package must also work there, or lead to
// the repository.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
/** npm always packs these files, although `files` does not list them. */
const ALWAYS_SHIPPED = ['LICENSE', 'README.md', 'package.json'];
const read = (path) => readFileSync(join(root, path), 'utf8');
const pages = () => [...files('.', '.md', false), ...files('docs', '.md')];
const faults = [...tests(), ...named(), ...links(), ...packaged()];
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (faults.length > 0) process.exitCode = 1;

/** The tests in docs/guarantees.md, as `test/cli/kill.test.ts`: "a title", "another". */
function* tests() {
  const page = read('docs/guarantees.md');
  for (const [, path, titles] of page.matchAll(/`(test\/[\w./-]+)`((?:[:,] "[^"]+")*)/g)) {
    if (!existsSync(join(root, path))) {
      yield `docs/guarantees.md: ${path} does not exist`;
      continue;
    }
    const source = read(path);
    for (const [, title] of titles.matchAll(/"([^"]+)"/g)) {
      if (!source.includes(title)) yield `docs/guarantees.md: ${path} has no test "${title}"`;
    }
  }
}

/**
 * Names of sources: `retry/attempts.ts` in a line, or transfer/attempts.ts at the start of a line of a walk. Each must
 * be the end of a path.
 */
function* named() {
  const paths = [...files('src', '.ts'), ...files('test', '.ts')].map((path) => `/${path}`);
  for (const page of pages()) {
    const text = read(page);
    const inLines = [...text.matchAll(/`([a-z][\w./-]*\.ts)`/g)].map(([, name]) => name);
    const inWalks = [...text.matchAll(/^([a-z]+(?:\/[a-z-]+)+\.ts) {2}/gm)].map(([, name]) => name);
    for (const name of [...inLines, ...inWalks]) {
      const isPlaceholder = /[A-Z]/.test(name);
      if (!isPlaceholder && !paths.some((path) => path.endsWith(`/${name}`))) yield `${page}: ${name} does not exist`;
    }
  }
}

function* links() {
  for (const page of pages()) {
    for (const target of targets(page)) {
      if (!isUrl(target) && !existsSync(join(root, dirname(page), target))) yield `${page}: ${target} does not exist`;
    }
  }
}

/** Targets of the links and pictures of a page, except those within the page. */
function targets(page) {
  const found = [...read(page).matchAll(/(?:\]\(|\b(?:src|srcset|href)=")([^)#"]+)/g)];
  return found.map(([, target]) => target);
}

function isUrl(target) {
  return /^[a-z]+:/.test(target);
}

/** A page in the package may link to files in the package, or to existing files of the repository by URL. */
function* packaged() {
  const { files: listed, homepage } = JSON.parse(read('package.json'));
  const isShipped = (path) => ALWAYS_SHIPPED.includes(path) || isListed(path, listed);
  const inRepository = `${homepage.replace(/#.*/, '')}/blob/main/`;
  for (const page of pages().filter(isShipped)) {
    for (const target of targets(page)) {
      const path = join(dirname(page), target);
      const away = target.startsWith(inRepository) ? target.slice(inRepository.length) : '';
      if (!existsSync(join(root, away))) yield `${page}: ${target} does not exist`;
      if (isUrl(target) || isShipped(path)) continue;
      yield `${page}: ${target} is not in the package: link to ${inRepository}${path}`;
    }
  }
}

/** Returns true if `files` of package.json includes a path or a folder above it. The last matching entry decides. */
function isListed(path, listed) {
  const covers = (entry) => path === entry || path.startsWith(`${entry}/`);
  const [last] = listed.filter((entry) => covers(entry.replace('!', ''))).slice(-1);
  return last !== undefined && !last.startsWith('!');
}

function files(folder, ending, deep = true) {
  return readdirSync(join(root, folder), { recursive: deep })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}
