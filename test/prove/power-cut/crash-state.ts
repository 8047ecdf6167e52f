// The states in which a power cut can leave a disk.
import { createHash } from 'node:crypto';
import { changeEntries, contentAfter, type FileNode, type FolderNode, sizesAfter } from './disk.ts';

/** Regular files by their path below the root. */
export type Tree = ReadonlyMap<string, Buffer>;

/** Decides which unflushed changes are on disk after a power cut. */
export interface Fate {
  /** For each of the `changes` of a directory, in order: true if it is on disk. */
  entries(changes: number): readonly boolean[];
  content(file: FileNode): Buffer;
}

/** Returns a number from 0 to `below - 1`. */
export type Dice = (below: number) => number;

/** A pseudorandom generator that repeats its numbers for a seed. */
export function dice(seed: number): Dice {
  let rolled = 0;
  return (below) => {
    rolled += 1;
    return createHash('sha1').update(`${seed} ${rolled}`).digest().readUInt32BE() % below;
  };
}

/** The files that exist after a power cut. */
export function crashTree(root: FolderNode, fate: Fate): Tree {
  const tree = new Map<string, Buffer>();
  const contents = new Map<FileNode, Buffer>();
  const visit = (folder: FolderNode, path: string) => {
    const entries = new Map(folder.durable);
    const there = fate.entries(folder.pending.length);
    for (const [at, change] of folder.pending.entries()) if (there[at]) changeEntries(entries, change);
    for (const [name, node] of entries) {
      if (node.kind === 'folder') visit(node, `${path}${name}/`);
      else {
        const content = contents.get(node) ?? fate.content(node);
        contents.set(node, content);
        tree.set(path + name, content);
      }
    }
  };
  visit(root, '');
  return tree;
}

/** Every change is on disk, although not all were flushed. */
export const ALL: Fate = { entries: (changes) => Array(changes).fill(true), content: (file) => after(file) };

/** Only flushed changes are on disk. */
export const NOTHING: Fate = { entries: (changes) => Array(changes).fill(false), content: ({ durable }) => durable };

/** All contents are on disk, but only flushed names. */
export const CONTENTS: Fate = { entries: NOTHING.entries, content: ALL.content };

/** All names are on disk, but only flushed contents. */
export const NAMES: Fate = { entries: ALL.entries, content: NOTHING.content };

/** The changes of each directory and of each file are on disk in order, up to some point. */
export function inOrder(roll: Dice): Fate {
  return {
    entries: (changes) => {
      const kept = roll(changes + 1);
      return Array.from({ length: changes }, (_, at) => at < kept);
    },
    content: (file) => after(file, roll(file.pending.length + 1)),
  };
}

/** No order: any changes of a directory, any version of each sector, or a size without its bytes. */
export function inAnyOrder(roll: Dice): Fate {
  return {
    entries: (changes) => Array.from({ length: changes }, () => roll(2) === 0),
    content: (file) => {
      const way = roll(4);
      if (way === 0) return file.durable;
      if (way === 1) return after(file);
      return scattered(file, roll, way === 2 ? 0 : JUNK);
    },
  };
}

const SECTOR = 512;
/** Bytes of a deleted file in a block. They are not text, because text could be a valid line. */
const JUNK = 0x01;

function after({ durable, pending }: FileNode, changes = pending.length): Buffer {
  return contentAfter(durable, pending.slice(0, changes));
}

function scattered({ durable, pending }: FileNode, roll: Dice, filler: number): Buffer {
  const sizes = sizesAfter(durable.length, pending);
  const content = Buffer.alloc(Math.max(...sizes), filler);
  durable.copy(content);
  // Number of changes that each sector has. Most sectors have none or all, because pages are written as a whole.
  const seen = Array.from({ length: Math.ceil(content.length / SECTOR) }, () =>
    roll(2) === 0 ? pending.length * roll(2) : roll(pending.length + 1),
  );
  for (const [at, change] of pending.entries()) {
    const [from, to] =
      'cutTo' in change ? [change.cutTo, content.length] : [change.at, change.at + change.bytes.length];
    for (let sector = Math.floor(from / SECTOR); sector * SECTOR < to; sector += 1) {
      if ((seen[sector] ?? 0) <= at) continue;
      const [begin, end] = [Math.max(from, sector * SECTOR), Math.min(to, (sector + 1) * SECTOR)];
      if ('cutTo' in change) content.fill(0, begin, end);
      else change.bytes.copy(content, begin, begin - change.at, end - change.at);
    }
  }
  return content.subarray(0, sizes[roll(sizes.length)]);
}
