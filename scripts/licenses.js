// Collects the licenses of the packages that are bundled into dist/, as the text of THIRD-PARTY-LICENSES.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

const LICENSE = /^(licen[cs]e|copying|notice)([.-].*)?$/i;

/** Notes about code of others inside a package that has no license file for it. */
const WITHIN = {
  '@jmespath-community/jmespath':
    'Its source is at https://github.com/jmespath-community/typescript-jmespath, and dist/ holds it unchanged but bundled.\n',
  undici:
    'In it, compiled to WebAssembly: llhttp, Copyright Fedor Indutny, 2018, under the terms of the MIT License too.\n',
};

/** Returns the text. Throws if a bundled package has no license file. */
export async function thirdPartyLicenses(root) {
  const sections = [];
  for (const folder of await bundledPackages(root)) sections.push(await section(join(root, folder)));
  return ['dist/ holds code of these packages, each under its own license.\n', ...sections.sort()].join(
    `\n${'-'.repeat(80)}\n\n`,
  );
}

/** Folders of the packages whose code is in the bundle. */
export async function bundledPackages(root) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['src/**/*.ts'],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    outdir: 'dist',
    write: false,
    metafile: true,
    logLevel: 'error',
  });
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const paths = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path);
  return new Set(paths.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []));
}

async function section(folder) {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const files = (await readdir(folder)).filter((file) => LICENSE.test(file)).sort();
  if (files.length === 0) throw new Error(`${name}: no license among its files`);
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  const tidy = texts.map((text) => `${text.replace(/\r\n/g, '\n').trim()}\n`);
  return [`${name} ${version} (${license})\n`, ...tidy, ...(WITHIN[name] ? [WITHIN[name]] : [])].join('\n');
}
