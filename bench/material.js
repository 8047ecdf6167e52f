// Creates the files that are downloaded and verified.
import { execFileSync, spawnSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { link, mkdir, open, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const BLOCK = 4 << 20;
const SMALL_BYTES = 20_000;
/**
 * Number of small files with their own bytes. The others are hard links to them, because 100,000 files would take 2 GB.
 */
const OWN = 10_000;

/** Names of `count` small files. */
export function names(count) {
  return Array.from({ length: count }, (_, index) => `f${String(index).padStart(5, '0')}.htm`);
}

/** Names of the files that are downloaded at the same time. Each has an eighth of the bytes of the large file. */
export const EIGHTHS = Array.from({ length: 16 }, (_, index) => `eighth${index}.bin`);

/** Fills `root`/v1 with a large file, a sparse one, EIGHTHS, and many small ones. Sizes are in bytes. */
export async function makeMaterial(root, { large, sparse, files }) {
  const folder = join(root, 'v1');
  await mkdir(folder, { recursive: true });
  const block = randomFillSync(Buffer.alloc(BLOCK));
  const [first, ...others] = EIGHTHS.map((name) => join(folder, name));
  for (const [path, bytes] of Object.entries({ [join(folder, 'large.bin')]: large, [first]: large / 8 })) {
    const file = await open(path, 'w');
    for (let at = 0; at < bytes; at += BLOCK) {
      // Each block differs, so that no lower layer can merge them.
      block.writeBigUInt64LE(BigInt(at), 0);
      await file.write(block, 0, Math.min(BLOCK, bytes - at));
    }
    await file.close();
  }
  for (const path of others) await link(first, path);
  await writeFile(join(folder, 'sparse.bin'), '');
  await truncate(join(folder, 'sparse.bin'), sparse);
  const small = block.subarray(0, SMALL_BYTES);
  const all = names(files);
  const own = all.slice(0, OWN);
  for (const name of own) await writeFile(join(folder, name), small);
  for (const [at, name] of all.slice(OWN).entries()) await link(join(folder, own[at % OWN]), join(folder, name));
  // The first flushes would otherwise also write these files to disk.
  spawnSync('sync');
}

/** Returns a SHA256SUMS with `count` entries of files that do not exist. */
export function* sumsOfMissing(count) {
  for (let at = 0; at < count; at += 1) yield `${at.toString(16).padStart(64, '0')}  missing${at}.htm\n`;
}

/** Fills `place` with files that differ, as real files do, and a SHA256SUMS. */
export async function makeSums(place, { count, bytes }) {
  await rm(place, { recursive: true, force: true });
  await mkdir(place);
  const block = randomFillSync(Buffer.alloc(bytes));
  for (const [at, name] of names(count).entries()) {
    block.writeUInt32LE(at, 0);
    await writeFile(join(place, name), block);
  }
  execFileSync('sh', ['-c', 'ls | xargs sha256sum > ../SUMS && mv ../SUMS SHA256SUMS && sync'], { cwd: place });
}
