// The bill of materials of the package: CycloneDX, made by npm from the lock file's entries of the packages that are
// bundled into dist/. To npm they are all development dependencies, of which an installed package shows none.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundledPackages } from './licences.js';

/**
 * Returns the text of sbom.cdx.json: `found`, if that has these packages already, since another npm words it in another
 * way. It has no time and no number of its own.
 */
export async function billOfMaterials(root, found) {
  const lock = await lockOfBundled(root);
  if (found !== undefined && isOf(JSON.parse(found), lock)) return found;
  const folder = await mkdtemp(join(tmpdir(), 'filings-sbom-'));
  try {
    // npm calls it by its folder.
    const project = join(folder, lock.name);
    await mkdir(project);
    await writeFile(join(project, 'package.json'), JSON.stringify(lock.packages['']));
    await writeFile(join(project, 'package-lock.json'), JSON.stringify(lock));
    const args = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
    const said = execFileSync('npm', args, { cwd: project, stdio: ['ignore', 'pipe', 'inherit'] });
    const { serialNumber: _, metadata, ...rest } = JSON.parse(said);
    const bill = { ...rest, metadata: { component: metadata.component } };
    if (!isOf(bill, lock)) throw new Error('npm sbom does not list what is bundled');
    return `${JSON.stringify(bill, null, 2)}\n`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns a lock file that holds only the bundled packages. */
async function lockOfBundled(root) {
  const read = async (name) => JSON.parse(await readFile(join(root, name), 'utf8'));
  const { name, version, description, license, repository, devDependencies } = await read('package.json');
  const { packages } = await read('package-lock.json');
  const folders = [...(await bundledPackages(root))].sort();
  const names = new Set(folders.map(nameOf));
  const bundled = (wanted = {}) => Object.fromEntries(Object.entries(wanted).filter(([name]) => names.has(name)));
  const entries = folders.map((folder) => {
    const { version, integrity, license, dependencies } = packages[folder];
    return [folder, { version, integrity, license, dependencies: bundled(dependencies) }];
  });
  const own = { name, version, description, license, repository, dependencies: bundled(devDependencies) };
  return { name, version, lockfileVersion: 3, packages: { '': own, ...Object.fromEntries(entries) } };
}

/** Whether a bill lists what a lock file does, with its versions and hashes. */
function isOf({ metadata, components }, { version, packages }) {
  const listed = components.map(({ name, version, hashes }) => `${name}@${version} ${hashes[0].content}`);
  const locked = Object.entries(packages).flatMap(([folder, { version, integrity }]) => {
    if (folder === '') return [];
    const hash = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
    return [`${nameOf(folder)}@${version} ${hash}`];
  });
  return metadata.component.version === version && listed.sort().join() === locked.sort().join();
}

function nameOf(folder) {
  return folder.split('node_modules/').at(-1);
}
