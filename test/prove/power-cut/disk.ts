/** A change of a file, which may be on disk or not. */
export type DataChange = { readonly at: number; readonly bytes: Buffer } | { readonly cutTo: number };

/** A change of a directory. A rename is one change, because file systems make it atomic. */
export interface EntryChange {
  readonly remove?: string;
  readonly put?: { readonly name: string; readonly node: Node };
}

/** The flushed content of a file, and the changes since. */
export interface FileNode {
  readonly kind: 'file';
  durable: Buffer;
  pending: DataChange[];
  /** Size in bytes as the running system sees it. */
  size: number;
}

export interface FolderNode {
  readonly kind: 'folder';
  readonly durable: Map<string, Node>;
  pending: EntryChange[];
  /** Entries as the running system sees them. */
  readonly live: Map<string, Node>;
}

export type Node = FileNode | FolderNode;
/** The changes before a flush, which it makes durable. */
export type Covered = ReadonlySet<DataChange | EntryChange>;

// A model of a disk that guarantees only what POSIX does: content is durable after a flush of the file, and a name
// after a flush of its directory.

/** A file whose content is durable. */
export function standingFile(durable: Buffer): FileNode {
  return { kind: 'file', durable, pending: [], size: durable.length };
}

export function emptyFolder(): FolderNode {
  return { kind: 'folder', durable: new Map(), pending: [], live: new Map() };
}

export function write(file: FileNode, at: number, bytes: Buffer): void {
  file.pending.push({ at, bytes });
  file.size = Math.max(file.size, at + bytes.length);
}

export function cut(file: FileNode, size: number): void {
  if (file.size === size) return;
  file.pending.push({ cutTo: size });
  file.size = size;
}

/** Gives a node a name, which may replace another node. `from` is the name that it loses. */
export function put(folder: FolderNode, name: string, node: Node, from?: string): void {
  if (from !== undefined) folder.live.delete(from);
  folder.live.set(name, node);
  folder.pending.push({ put: { name, node }, ...(from === undefined ? {} : { remove: from }) });
}

export function remove(folder: FolderNode, name: string): void {
  folder.live.delete(name);
  folder.pending.push({ remove: name });
}

/** The changes that a flush makes durable. Must be called when the flush begins. */
export function coveredBy({ pending }: Node): Covered {
  return new Set<DataChange | EntryChange>(pending);
}

/** Ends a flush: its changes are durable. */
export function flush(node: Node, covered: Covered): void {
  if (node.kind === 'file') {
    node.durable = contentAfter(
      node.durable,
      node.pending.filter((change) => covered.has(change)),
    );
    node.pending = node.pending.filter((change) => !covered.has(change));
  } else {
    for (const change of node.pending) if (covered.has(change)) changeEntries(node.durable, change);
    node.pending = node.pending.filter((change) => !covered.has(change));
  }
}

/** The content after these changes. */
export function contentAfter(content: Buffer, changes: readonly DataChange[]): Buffer {
  if (changes.length === 0) return content;
  const sizes = sizesAfter(content.length, changes);
  const next = Buffer.alloc(Math.max(...sizes));
  content.copy(next);
  for (const change of changes) {
    if ('cutTo' in change) next.fill(0, change.cutTo);
    else change.bytes.copy(next, change.at);
  }
  return next.subarray(0, sizes.at(-1));
}

/** The size before all changes, and after each of them. */
export function sizesAfter(size: number, changes: readonly DataChange[]): number[] {
  const sizes = [size];
  for (const change of changes) {
    const before = sizes.at(-1) ?? 0;
    sizes.push('cutTo' in change ? change.cutTo : Math.max(before, change.at + change.bytes.length));
  }
  return sizes;
}

/** Changes the entries in place. */
export function changeEntries(entries: Map<string, Node>, { remove: gone, put: named }: EntryChange): void {
  if (gone !== undefined) entries.delete(gone);
  if (named) entries.set(named.name, named.node);
}
