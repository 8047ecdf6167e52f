// Writes man/ and schema/ from the specs of the commands and the settings, and THIRD-PARTY-LICENSES from the bundled
// packages. With --check, writes nothing and fails if a file is out of date.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { thirdPartyLicenses } from './licenses.js';

const root = join(import.meta.dirname, '..');

// Node 20 cannot run TypeScript. The bundle is in a folder from which libraries can be imported.
const outfile = join(root, 'node_modules/.cache/filings-reference.mjs');
await build({
  absWorkingDir: root,
  stdin: {
    contents: `
      export { configJsonSchema } from './json-schema.ts';
      export { manPage } from './man-page.ts';`,
    resolveDir: join(root, 'scripts/reference'),
  },
  bundle: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  outfile,
  logLevel: 'warning',
});
const { configJsonSchema, manPage } = await import(outfile);

const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
const checking = process.argv.includes('--check');
const wantedFiles = {
  'man/filings.1': manPage({ version, date: await releaseDay(version) }),
  'schema/config.schema.json': configJsonSchema(),
  'THIRD-PARTY-LICENSES': await thirdPartyLicenses(root),
};
for (const [name, wanted] of Object.entries(wantedFiles)) {
  const path = join(root, name);
  const found = await textOf(name);
  if (found === wanted) continue;
  if (checking) {
    process.stderr.write(`${name}: out of date: run 'npm run generate'\n`);
    process.exitCode = 1;
  } else {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, wanted);
    process.stdout.write(`${name}\n`);
  }
}

function textOf(name) {
  return readFile(join(root, name), 'utf8').catch(() => undefined);
}

/** The date of a release in the changelog. */
async function releaseDay(version) {
  const changelog = await readFile(join(root, 'CHANGELOG.md'), 'utf8');
  const [, number, day] = /^## \[(\d[^\]]*)\] - (\d{4}-\d\d-\d\d)$/m.exec(changelog) ?? [];
  if (number !== version)
    throw new Error(`CHANGELOG.md: its newest release is ${number}, that of package.json ${version}`);
  return day;
}
