import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sha256, versionOf } from '../archive.ts';
import { readPartName } from '../part-names.ts';
import type { Process } from '../process.ts';
import type { Scene } from '../schedule.ts';

/** What stands in a filing's directory beside files under their final names. */
export interface Leftover {
  readonly path: string;
  /** ACCESSION/FILE. */
  readonly of: string;
  readonly pid: number;
  readonly kind: string;
}

/** What is under a final name. */
export interface Standing {
  readonly length: number;
  readonly sha256: string;
  /** Which it is of the file's; undefined for none. */
  readonly version: number | undefined;
}

/** Whoever looks again at what has not changed since need not read it again. */
const seen = new WeakMap<Scene, Map<string, Standing>>();

/** What is under a final name, if anything is. */
export function standing(scene: Scene, accession: string, name: string | null): Standing | undefined {
  const path = join(scene.place, 'out', accession, name ?? '');
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (!stats?.isFile()) return undefined;
  const known = seen.get(scene) ?? new Map<string, Standing>();
  seen.set(scene, known);
  const key = `${path} ${stats.ino} ${stats.size} ${stats.ctimeNs}`;
  const there = known.get(key) ?? read(path, scene, accession, name);
  known.set(key, there);
  return there;
}

function read(path: string, { files }: Scene, accession: string, name: string | null): Standing {
  const bytes = readFileSync(path);
  const file = files.find((each) => each.accession === accession && each.name === name);
  return { length: bytes.length, sha256: sha256(bytes), version: file && versionOf(file, bytes) };
}

/** Every final name holds exactly one version, and nothing stands there that is not known. */
export function filesAreWhole(scene: Scene): void {
  for (const { accession, name, size } of scene.files) {
    const there = standing(scene, accession, name);
    assert(!there || there.version, `${accession}/${name} is no version: ${there?.length} of ${size} bytes`);
  }
  leftovers(scene);
}

/** Whether there is a checksum file. */
export function hasSums({ place, files }: Pick<Scene, 'place' | 'files'>): boolean {
  return files.some(({ accession }) => existsSync(join(place, 'out', accession, 'SHA256SUMS')));
}

/** What stands beside a checksum file while it is rewritten, or since somebody was killed at it. */
const REWRITING = /^\.SHA256SUMS\.(lock|[\da-f]{12}\.new)$/;

export function rewritings({ place, files }: Scene): string[] {
  const directories = new Set(files.map(({ accession }) => join(place, 'out', accession)));
  return [...directories].flatMap((path) => readdirSync(path).filter((name) => REWRITING.test(name)));
}

export function leftovers({ place, files }: Scene): Leftover[] {
  const out = join(place, 'out');
  const found: Leftover[] = [];
  for (const accession of existsSync(out) ? readdirSync(out) : []) {
    const known = new Set([
      'SHA256SUMS',
      ...files.filter((file) => file.accession === accession).map(({ name }) => name),
    ]);
    for (const name of readdirSync(join(out, accession))) {
      if (known.has(name) || REWRITING.test(name)) continue;
      const part = readPartName(name) ?? assert.fail(`what is ${accession}/${name}?`);
      const { stem, pid, kind } = part;
      found.push({ path: join(out, accession, name), of: `${accession}/${stem}`, pid, kind });
    }
  }
  return found;
}

/** A run that has ended by itself leaves nothing but parts that can be resumed, each with its record. */
export function noLitter(scene: Scene, process: Process): void {
  if (process.dead) return;
  assert.deepEqual([...process.open.values()], [], `${process.name} leaves files open`);
  // Whoever was killed as it took one over may have left one of the two.
  const isTorn = scene.processes.some(({ dead }) => dead);
  const own = isTorn ? [] : leftovers(scene).filter(({ pid }) => pid === process.pid);
  for (const { path, kind } of own) {
    const other = path.replace(/(part|resume)$/, kind === 'part' ? 'resume' : 'part');
    assert(kind !== 'lock' && existsSync(other), `${process.name} leaves ${path}`);
  }
  const name = process.name.replace(' ', '');
  const torn = readdirSync(scene.place).filter((each) => each.startsWith(`${name}.failed.`));
  assert.deepEqual(torn, [], `${process.name} leaves a torn list`);
}

/** A live process's part is never touched. */
export function partsAreTheirOwners({ trespasses }: Scene): void {
  assert.deepEqual(trespasses, [], trespasses[0]);
}
