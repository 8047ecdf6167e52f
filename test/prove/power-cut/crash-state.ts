// The states in which a power cut can leave a disk.
import { createHash } from 'node:crypto';
import { type Entries, File, Folder } from './disk.ts';

/** Regular files by their path below the root. */
export type Tree = ReadonlyMap<string, Buffer>;

/** Decides which unflushed changes are on disk after a power cut. */
export interface Fate {
  /** The changes of a directory that are on disk. */
  names(changes: readonly Entries[]): readonly Entries[];
  content(file: File): Buffer;
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
export function crashTree(root: Folder, fate: Fate): Tree {
  const tree = new Map<string, Buffer>();
  const contents = new Map<File, Buffer>();
  const visit = (folder: Folder, path: string) => {
    for (const [name, node] of folder.after(fate.names(folder.pending))) {
      if (node instanceof Folder) visit(node, `${path}${name}/`);
      if (!(node instanceof File)) continue;
      // A file with two names has one content.
      const content = contents.get(node) ?? fate.content(node);
      contents.set(node, content);
      tree.set(path + name, content);
    }
  };
  visit(root, '');
  return tree;
}

const all = <T>(changes: readonly T[]) => changes;
const none = () => [];
const live = (file: File) => file.live;
const durable = (file: File) => file.durable;

/** All changes are on disk, although not all were flushed. */
export const ALL: Fate = { names: all, content: live };

/** The fates that are tried at each moment. */
export const FATES: Readonly<Record<string, Fate>> = {
  all: ALL,
  'nothing unflushed': { names: none, content: durable },
  'no unflushed names': { names: none, content: live },
  'no unflushed contents': { names: all, content: durable },
};

/** The fates that differ each time. */
export const randomFates = (roll: Dice): Readonly<Record<string, Fate>> => ({
  // The changes of each directory and of each file are on disk up to some point.
  'in order': {
    names: (changes) => beginningOf(changes, roll),
    content: (file) => file.after(beginningOf(file.pending, roll)),
  },
  // Any changes of a directory, any version of each sector, or a size without its bytes.
  'in any order': {
    names: (changes) => changes.filter(() => roll(2) === 0),
    content: (file) => [durable, live, scattered(roll, 0), scattered(roll, JUNK)][roll(4)]?.(file) as Buffer,
  },
});

function beginningOf<T>(changes: readonly T[], roll: Dice): readonly T[] {
  return changes.slice(0, roll(changes.length + 1));
}

const SECTOR = 512;
/** Bytes of a deleted file in a block. They are not text, because text could be a valid line. */
const JUNK = 0x01;

/** Takes each sector from some version of the file, and the size from another. Sectors without bytes have the filler. */
const scattered = (roll: Dice, filler: number) => (file: File) => {
  const versions = Array.from({ length: file.pending.length + 1 }, (_, count) =>
    file.after(file.pending.slice(0, count)),
  );
  const anyOf = <T>(list: readonly T[]) => list[roll(list.length)] as T;
  const content = Buffer.alloc(Math.max(...versions.map(({ length }) => length)), filler);
  const ends = [versions[0], versions.at(-1)];
  for (let at = 0; at < content.length; at += SECTOR) {
    // Most sectors have none or all of the changes, because pages are written as a whole.
    const version = anyOf(roll(2) === 0 ? ends : versions) as Buffer;
    content.set(version.subarray(at, at + SECTOR), at);
  }
  return content.subarray(0, anyOf(versions).length);
};
