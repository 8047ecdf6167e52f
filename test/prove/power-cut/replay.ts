// Replays the system calls of a run on the model of a disk.
import { resolve } from 'node:path';
import type { Tree } from './crash-state.ts';
import {
  type Covered,
  coveredBy,
  cut,
  emptyFolder,
  type FileNode,
  type FolderNode,
  flush,
  type Node,
  put,
  remove,
  standingFile,
  write,
} from './disk.ts';
import { type Call, textsOf } from './strace-log.ts';

interface OpenFile {
  readonly node: Node;
  readonly appends: boolean;
  position: number;
}

/** The calls that change a tree or promise that a change is durable. */
export const TRACED = [
  'open,openat,creat,close,write,writev,pwrite64,pwritev,pwritev2,ftruncate,truncate,fsync,fdatasync,sync_file_range',
  'rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,symlink,symlinkat,copy_file_range,sendfile',
  // These calls show which threads share their descriptors.
  'clone,clone3',
].join(',');

/** Replays runs of a program on a modelled disk, call by call. */
export class Replay {
  readonly root: FolderNode = emptyFolder();
  readonly #path: string;
  /** Standard output so far. It may have left the machine. */
  stdout = '';
  /** Open files by process and descriptor. */
  #open = new Map<string, OpenFile>();

  /** A durable tree at the absolute `path`. */
  constructor(path: string, tree: Tree) {
    this.#path = path;
    for (const [name, content] of tree) this.#stand(name.split('/'), content);
  }

  #stand(steps: readonly string[], content: Buffer): void {
    let folder = this.root;
    for (const step of steps.slice(0, -1)) {
      const next = folder.live.get(step) ?? emptyFolder();
      folder.live.set(step, next);
      folder.durable.set(step, next);
      folder = next as FolderNode;
    }
    const file = standingFile(content);
    folder.live.set(steps.at(-1) ?? '', file);
    folder.durable.set(steps.at(-1) ?? '', file);
  }

  /**
   * Replays one run, or several concurrent ones. Calls `moment` whenever the possible states of the disk may have
   * changed.
   */
  run(calls: readonly Call[], moment: (call: Call) => void): void {
    this.#open = new Map();
    const flushes = new Map<Call, Covered>();
    const steps = calls.flatMap((call) => [
      { at: call.begin, call, begins: true },
      { at: call.end, call, begins: false },
    ]);
    // The sort is stable, so that a call in a single line begins before it ends.
    for (const { call, begins } of steps.sort((one, two) => one.at - two.at)) {
      if (begins) this.#begin(call, flushes);
      else if (this.#end(call, flushes)) moment(call);
    }
  }

  #begin(call: Call, flushes: Map<Call, Covered>): void {
    const open = this.#open.get(placeIn(call));
    if (call.name === 'close') this.#open.delete(placeIn(call));
    if (isFlush(call) && open) flushes.set(call, coveredBy(open.node));
    // A reader may act on the output before the call returns.
    if (isWrite(call) && !open && fdOf(call) === 1) this.stdout += Buffer.concat(textsOf(call)).toString();
  }

  /** Returns true if the call has changed the disk. */
  #end(call: Call, flushes: Map<Call, Covered>): boolean {
    if (call.result === undefined || call.result < 0) return false;
    if (isWrite(call)) return this.#write(call, call.result);
    switch (call.name) {
      case 'fsync':
      case 'fdatasync':
        return this.#flushed(call, flushes);
      case 'open':
      case 'openat':
        return this.#opened(call, call.result);
      case 'ftruncate':
        return this.#cut(call);
      case 'mkdir':
        return this.#at(call, 0, (folder, name) => put(folder, name, emptyFolder()));
      case 'unlink':
      case 'rmdir':
        return this.#at(call, 0, remove);
      case 'link':
        return this.#at(call, 1, (folder, name) => put(folder, name, this.#named(call)));
      case 'rename':
        return this.#at(call, 1, (folder, name) => this.#renamed(call, folder, name));
      case 'close':
        return false;
      default:
        // Without this error, a call that the model lacks would make every later state wrong.
        return this.#at(call, 0, () => {
          throw new Error(`the model knows no ${call.name}`);
        });
    }
  }

  #flushed(call: Call, flushes: Map<Call, Covered>): boolean {
    const node = this.#open.get(placeIn(call))?.node;
    const covered = flushes.get(call);
    if (!node || !covered) return false;
    flush(node, covered);
    return true;
  }

  #write(call: Call, written: number): boolean {
    const open = this.#open.get(placeIn(call));
    if (open?.node.kind !== 'file') {
      if (open) throw new Error('a write into a directory');
      return fdOf(call) === 1;
    }
    const positioned = call.name.startsWith('p');
    const at = positioned ? Number(/, (\d+)$/.exec(call.args)?.[1]) : open.appends ? open.node.size : open.position;
    write(open.node, at, Buffer.concat(textsOf(call)).subarray(0, written));
    if (!positioned) open.position = at + written;
    return true;
  }

  #cut(call: Call): boolean {
    const node = this.#open.get(placeIn(call))?.node;
    if (node?.kind === 'file') cut(node, Number(/, (\d+)$/.exec(call.args)?.[1]));
    return node !== undefined;
  }

  #opened(call: Call, fd: number): boolean {
    const place = this.#placeOf(call, 0);
    if (!place) return false;
    const { folder, name } = place;
    const there = name === '' ? folder : folder.live.get(name);
    const flags = call.args.split(', ');
    const has = (flag: string) => flags.some((each) => each.split('|').includes(flag));
    const node = there ?? standingFile(Buffer.alloc(0));
    if (!there) {
      if (!has('O_CREAT')) throw new Error(`opened what is not there: ${name}`);
      put(folder, name, node);
    } else if (has('O_TRUNC')) cut(node as FileNode, 0);
    this.#open.set(placeIn(call, fd), { node, appends: has('O_APPEND'), position: 0 });
    return !there || has('O_TRUNC');
  }

  #renamed(call: Call, folder: FolderNode, name: string): void {
    const from = this.#placeOf(call, 0);
    if (from?.folder !== folder) throw new Error('the model knows no rename into another directory');
    put(folder, name, this.#named(call), from.name);
  }

  #named(call: Call): Node {
    const from = this.#placeOf(call, 0);
    const node = from?.folder.live.get(from.name);
    if (!node) throw new Error(`${call.name} of what is not there: ${from?.name}`);
    return node;
  }

  #at(call: Call, text: number, change: (folder: FolderNode, name: string) => void): boolean {
    const place = this.#placeOf(call, text);
    if (place) change(place.folder, place.name);
    return place !== undefined;
  }

  /** The directory and name of a path among the arguments, or undefined if the path is outside the tree. */
  #placeOf(call: Call, text: number): { folder: FolderNode; name: string } | undefined {
    const path = textsOf(call)[text]?.toString();
    if (path === undefined) return undefined;
    const steps = this.#below(resolve(this.#path, path));
    let node: Node | undefined = this.root;
    for (const step of steps?.slice(0, -1) ?? []) node = node?.kind === 'folder' ? node.live.get(step) : undefined;
    const name = steps?.at(-1);
    return node?.kind === 'folder' && name !== undefined ? { folder: node, name: name === '.' ? '' : name } : undefined;
  }

  #below(absolute: string): string[] | undefined {
    if (absolute === this.#path) return [''];
    return absolute.startsWith(`${this.#path}/`) ? absolute.slice(this.#path.length + 1).split('/') : undefined;
  }
}

function fdOf({ args }: Call): number {
  return Number(/^\d+/.exec(args)?.[0] ?? -1);
}

function placeIn(call: Call, fd = fdOf(call)): string {
  return `${call.process} ${fd}`;
}

function isFlush({ name }: Call): boolean {
  return name === 'fsync' || name === 'fdatasync';
}

function isWrite({ name }: Call): boolean {
  return /^p?write(v|64|v2)?$/.test(name);
}
