// Makes a release: node scripts/release.js VERSION [--dry-run]
// Sets the version in package.json and its lock file, dates the Unreleased section of the changelog, tests the package
// (test/prove/package), and makes a commit, a tag and the package file. With --dry-run, restores all files instead of
// the commit.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const FILES = ['package.json', 'package-lock.json', 'CHANGELOG.md'];
const [version = '', option] = process.argv.slice(2);
const run = (program, ...args) => execFileSync(program, args, { cwd: root, encoding: 'utf8' });
const read = (name) => readFileSync(join(root, name), 'utf8');

if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) fail('usage: node scripts/release.js VERSION [--dry-run]');
if (run('git', 'status', '--porcelain') !== '') fail('there are changes that are not committed');
if (run('git', 'tag', '--list', `v${version}`) !== '') fail(`v${version} already exists`);

const changelog = dated(read('CHANGELOG.md'), new Date().toISOString().slice(0, 10));
try {
  run('npm', 'version', version, '--no-git-tag-version', '--allow-same-version');
  writeFileSync(join(root, 'CHANGELOG.md'), changelog);
  run('npm', 'run', 'generate');
  run('npm', 'run', 'build');
  run('npx', 'vitest', 'run', '--project', 'prove', 'test/prove/package');
  if (option === '--dry-run') run('git', 'checkout', '--', '.');
  else {
    run('git', 'commit', '--all', '--message', `Release ${version}`);
    run('git', 'tag', '--annotate', `v${version}`, '--message', `filings ${version}`);
    process.stdout.write(run('npm', 'pack', '--silent'));
  }
} catch (error) {
  run('git', 'checkout', '--', '.');
  fail(`${error.message}: nothing is released, ${FILES.join(', ')} are as they were`);
}

/** Gives the Unreleased section a number and a date, and adds an empty section. */
function dated(text, today) {
  if (!/^## \[Unreleased\]\n+(?=###)/m.test(text)) fail('CHANGELOG.md: nothing is written under [Unreleased]');
  return text.replace('## [Unreleased]\n', `## [Unreleased]\n\n## [${version}] - ${today}\n`);
}

function fail(text) {
  process.stderr.write(`${text}\n`);
  process.exit(1);
}
