// Replays the system calls of a run on the model of a disk.
import { relative, resolve } from 'node:path';
import type { Tree } from './crash-state.ts';
import { type DataChange, File, Folder, type Node } from './disk.ts';
import { type Call, descriptorOf, textsOf } from './strace-log.ts';

/** The calls that change a tree or promise that a change is durable. */
export const TRACED = [
  'open,openat,creat,write,writev,pwrite64,pwritev,pwritev2,ftruncate,truncate,fsync,fdatasync,sync_file_range',
  'rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,symlink,symlinkat,copy_file_range,sendfile',
].join(',');

/** Replays runs of a program on a modelled disk, call by call. */
export class Replay {
  readonly root = new Folder(new Map());
  readonly #path: string;
  /** Standard output so far. It may have left the machine. */
  stdout = '';
  readonly #flushes = new Map<Call, () => void>();

  /** A durable tree at the absolute `path`, which has no symbolic links. */
  constructor(path: string, tree: Tree) {
    this.#path = path;
    for (const [name, content] of tree) stand(this.root, name.split('/'), content);
  }

  /**
   * Replays one run, or several concurrent ones. Calls `moment` whenever the possible states of the disk may have
   * changed.
   */
  run(calls: readonly Call[], moment: (call: Call) => void): void {
    const steps = calls.flatMap((call) => [
      { at: call.begin, call, begins: true },
      { at: call.end, call, begins: false },
    ]);
    // The sort is stable, so that a call in a single line begins before it ends.
    for (const { call, begins } of steps.sort((one, two) => one.at - two.at)) {
      if (begins) this.#begin(call);
      else if (call.result !== undefined && call.result >= 0 && this.#end(call, call.result)) moment(call);
    }
  }

  #begin(call: Call): void {
    const { fd, path } = descriptorOf(call) ?? {};
    const node = this.#nodeAt(path);
    if (isFlush(call) && node) this.#flushes.set(call, node.beginFlush());
    // A reader may act on the output before the call returns.
    if (isWrite(call) && fd === 1 && !node) this.stdout += Buffer.concat(textsOf(call)).toString();
  }

  /** Returns true if the call has changed the disk or standard output. */
  #end(call: Call, result: number): boolean {
    const descriptor = descriptorOf(call);
    if (isFlush(call)) {
      this.#flushes.get(call)?.();
      return this.#flushes.has(call);
    }
    if (isWrite(call)) return this.#write(call, result) || descriptor?.fd === 1;
    const paths = descriptor ? [descriptor.path] : textsOf(call).map(String);
    const [place, to] = paths.map((path) => this.#placeOf(path));
    const node = this.#nodeAt(paths[0]);
    if (!place) return false;
    switch (call.name) {
      case 'open':
      case 'openat':
        if (!node) return rename(place, new File(Buffer.alloc(0)));
        return call.args.includes('O_TRUNC') && edit(node, { cutTo: 0 });
      case 'ftruncate':
        return edit(node, { cutTo: lastNumberOf(call) });
      case 'mkdir':
        return rename(place, new Folder(new Map()));
      case 'unlink':
      case 'rmdir':
        return rename(place, undefined);
      case 'link':
        return rename(to, node);
      case 'rename':
        if (place.folder !== to?.folder) throw new Error('the model knows no rename into another directory');
        return rename(to, node, [place.name, undefined]);
      default:
        // Without this error, a call that the model lacks would make every later state wrong.
        throw new Error(`the model knows no ${call.name}`);
    }
  }

  /** A write without a position appends: the program has no file that it writes in another way. */
  #write(call: Call, written: number): boolean {
    const node = this.#nodeAt(descriptorOf(call)?.path);
    if (!(node instanceof File)) return false;
    const at = call.name.startsWith('p') ? lastNumberOf(call) : node.live.length;
    return edit(node, { at, bytes: Buffer.concat(textsOf(call)).subarray(0, written) });
  }

  #nodeAt(path: string | undefined): Node | undefined {
    const place = path === undefined ? undefined : this.#placeOf(path);
    return place?.name === '' ? place.folder : place?.folder.live.get(place.name);
  }

  /** The directory of a path and the name there, or undefined outside the tree. The root itself has no name. */
  #placeOf(path: string): Place | undefined {
    const steps = relative(this.#path, resolve(this.#path, path)).split('/');
    let folder: Node | undefined = steps[0] === '..' ? undefined : this.root;
    for (const step of steps.slice(0, -1)) folder = folder instanceof Folder ? folder.live.get(step) : undefined;
    return folder instanceof Folder ? { folder, name: steps.at(-1) ?? '' } : undefined;
  }
}

interface Place {
  readonly folder: Folder;
  readonly name: string;
}

function edit(node: Node | undefined, change: DataChange): boolean {
  if (node instanceof File) node.pending.push(change);
  return node instanceof File;
}

/** Gives a name a node, or none. `more` is a name that changes at once. */
function rename(place: Place | undefined, node: Node | undefined, ...more: [string, undefined][]): boolean {
  place?.folder.pending.push(new Map([...more, [place.name, node]]));
  return place !== undefined;
}

function stand(folder: Folder, [name = '', ...below]: readonly string[], content: Buffer): void {
  const node = below.length === 0 ? new File(content) : (folder.durable.get(name) ?? new Folder(new Map()));
  folder.durable = new Map([...folder.durable, [name, node]]);
  if (node instanceof Folder) stand(node, below, content);
}

const isFlush = ({ name }: Call) => name === 'fsync' || name === 'fdatasync';
const isWrite = ({ name }: Call) => /^(?:writev?|pwrite64|pwritev)$/.test(name);
const lastNumberOf = ({ args }: Call) => Number(/, (\d+)$/.exec(args)?.[1]);
