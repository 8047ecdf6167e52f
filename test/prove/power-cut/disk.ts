// A model of a disk that guarantees only what POSIX does: content is durable after a flush of the file, and a name after
// a flush of its directory.

/** Content that is on disk, and the changes since, of which each may be on disk or not. */
abstract class Stored<Content, Change> {
  durable: Content;
  pending: Change[] = [];
  /** Number of the changes that flushes have made durable. */
  #flushed = 0;

  constructor(durable: Content) {
    this.durable = durable;
  }

  /** The durable content after some changes. */
  abstract after(changes: readonly Change[]): Content;

  /** The content as the running system sees it. */
  get live(): Content {
    return this.after(this.pending);
  }

  /** Begins a flush. It covers the changes so far, and the returned function makes them durable. */
  beginFlush(): () => void {
    const covered = this.#flushed + this.pending.length;
    return () => {
      // Another flush that began meanwhile may already have ended.
      const changes = this.pending.slice(0, Math.max(0, covered - this.#flushed));
      this.durable = this.after(changes);
      this.pending = this.pending.slice(changes.length);
      this.#flushed += changes.length;
    };
  }
}

export type DataChange = { readonly at: number; readonly bytes: Buffer } | { readonly cutTo: number };

export class File extends Stored<Buffer, DataChange> {
  after(changes: readonly DataChange[]): Buffer {
    return changes.reduce(changed, this.durable);
  }
}

function changed(content: Buffer, change: DataChange): Buffer {
  const end = 'cutTo' in change ? change.cutTo : Math.max(content.length, change.at + change.bytes.length);
  const next = Buffer.alloc(end);
  content.copy(next);
  if ('at' in change) change.bytes.copy(next, change.at);
  return next;
}

export type Node = File | Folder;
/** Nodes by name. A name without a node was removed. */
export type Entries = ReadonlyMap<string, Node | undefined>;

/** A directory. A rename is one change of two names, because file systems make it atomic. */
export class Folder extends Stored<Entries, Entries> {
  after(changes: readonly Entries[]): Entries {
    return new Map([this.durable, ...changes].flatMap((entries) => [...entries]));
  }
}
