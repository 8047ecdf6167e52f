// Makes the bill of materials of the package, in CycloneDX, so that scanners see which libraries are bundled into dist/.
// npm makes it from a lock file of only these libraries. In the real one they are development dependencies, which npm
// would omit.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundledPackages } from './licences.js';

/**
 * Returns the text of sbom.cdx.json, without a time and a serial number. Returns `committed` if it lists the same
 * packages, because another version of npm writes other text.
 */
export async function billOfMaterials(root, committed) {
  const lock = await lockOfBundled(root);
  if (committed !== undefined && listsSamePackages(JSON.parse(committed), lock)) return committed;
  const folder = await mkdtemp(join(tmpdir(), 'filings-sbom-'));
  try {
    // npm uses the folder's name as the name of the package.
    const project = join(folder, lock.name);
    await mkdir(project);
    await writeFile(join(project, 'package.json'), JSON.stringify(lock.packages['']));
    await writeFile(join(project, 'package-lock.json'), JSON.stringify(lock));
    const args = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
    const output = execFileSync('npm', args, { cwd: project, stdio: ['ignore', 'pipe', 'inherit'] });
    const { serialNumber: _, metadata, ...rest } = JSON.parse(output);
    const bill = { ...rest, metadata: { component: metadata.component } };
    if (!listsSamePackages(bill, lock)) throw new Error('npm sbom does not list what is bundled');
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
  const onlyBundled = (versions = {}) =>
    Object.fromEntries(Object.entries(versions).filter(([name]) => names.has(name)));
  const entries = folders.map((folder) => {
    const { version, integrity, license, dependencies } = packages[folder];
    return [folder, { version, integrity, license, dependencies: onlyBundled(dependencies) }];
  });
  const own = { name, version, description, license, repository, dependencies: onlyBundled(devDependencies) };
  return { name, version, lockfileVersion: 3, packages: { '': own, ...Object.fromEntries(entries) } };
}

/** Returns whether a bill and a lock file list the same packages, with the same versions and hashes. */
function listsSamePackages({ metadata, components }, { version, packages }) {
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
