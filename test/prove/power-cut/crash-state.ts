import { createHash } from 'node:crypto';
import { changeEntries, contentAfter, type FileNode, type FolderNode, sizesAfter } from './disk.ts';

/** Plain files by their path below the root. */
export type Tree = ReadonlyMap<string, Buffer>;

/** What a power cut leaves of what was not flushed. */
export interface Fate {
  /** For each of so many changes of a directory, in order, whether it is on disk. */
  entries(changes: number): readonly boolean[];
  content(file: FileNode): Buffer;
}

/** A number of 0 to `below - 1`. */
export type Dice = (below: number) => number;

/** Dice that fall the same way again for a seed. */
export function dice(seed: number): Dice {
  let rolled = 0;
  return (below) => {
    rolled += 1;
    return createHash('sha1').update(`${seed} ${rolled}`).digest().readUInt32BE() % below;
  };
}

/** The files that stand when the power is back. */
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

/** All was written back, though nobody asked for it. */
export const ALL: Fate = { entries: (changes) => Array(changes).fill(true), content: (file) => after(file) };

/** Nothing but what was flushed. */
export const NOTHING: Fate = { entries: (changes) => Array(changes).fill(false), content: ({ durable }) => durable };

/** What was written into files, and no name that nobody asked for. */
export const CONTENTS: Fate = { entries: NOTHING.entries, content: ALL.content };

/** All names, and nothing in them but what was flushed. */
export const NAMES: Fate = { entries: ALL.entries, content: NOTHING.content };

/** As on a file system that keeps the order within each directory and within each file. */
export function inOrder(roll: Dice): Fate {
  return {
    entries: (changes) => {
      const kept = roll(changes + 1);
      return Array.from({ length: changes }, (_, at) => at < kept);
    },
    content: (file) => after(file, roll(file.pending.length + 1)),
  };
}

/** No order at all: any of the changes of a directory, any version of each sector, a size without its bytes. */
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
/** What a deleted file has left in a block; text it is not, or it could say anything. */
const JUNK = 0x01;

function after({ durable, pending }: FileNode, changes = pending.length): Buffer {
  return contentAfter(durable, pending.slice(0, changes));
}

function scattered({ durable, pending }: FileNode, roll: Dice, filler: number): Buffer {
  const sizes = sizesAfter(durable.length, pending);
  const content = Buffer.alloc(Math.max(...sizes), filler);
  durable.copy(content);
  // So many of the changes each sector has seen; most sectors none or all, as whole pages are written back.
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
