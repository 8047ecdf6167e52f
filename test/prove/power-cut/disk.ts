/** A change of a file that may or may not be on disk yet. */
export type DataChange = { readonly at: number; readonly bytes: Buffer } | { readonly cutTo: number };

/** A change of a directory: a rename is one, since every file system makes it so. */
export interface EntryChange {
  readonly remove?: string;
  readonly put?: { readonly name: string; readonly node: Node };
}

/** What stands for sure, and what was done to it since. */
export interface FileNode {
  readonly kind: 'file';
  durable: Buffer;
  pending: DataChange[];
  /** As the running system sees it. Bytes. */
  size: number;
}

export interface FolderNode {
  readonly kind: 'folder';
  readonly durable: Map<string, Node>;
  pending: EntryChange[];
  /** As the running system sees it. */
  readonly live: Map<string, Node>;
}

export type Node = FileNode | FolderNode;
/** What a flush covers: what was done before it began. */
export type Covered = ReadonlySet<DataChange | EntryChange>;

// A disk that promises what POSIX does and nothing more: data are on it when their file was flushed, a name is when
// its directory was.

/** A file whose content stands. */
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

/** Gives a node a name, under which something else may stand; `from` is the name that it loses by it. */
export function put(folder: FolderNode, name: string, node: Node, from?: string): void {
  if (from !== undefined) folder.live.delete(from);
  folder.live.set(name, node);
  folder.pending.push({ put: { name, node }, ...(from === undefined ? {} : { remove: from }) });
}

export function remove(folder: FolderNode, name: string): void {
  folder.live.delete(name);
  folder.pending.push({ remove: name });
}

/** To be asked as a flush begins. */
export function coveredBy({ pending }: Node): Covered {
  return new Set<DataChange | EntryChange>(pending);
}

/** A flush has ended: what it covers stands. */
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

/** A content behind changes of it. */
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

/** The size before all changes, and behind each of them. */
export function sizesAfter(size: number, changes: readonly DataChange[]): number[] {
  const sizes = [size];
  for (const change of changes) {
    const before = sizes.at(-1) ?? 0;
    sizes.push('cutTo' in change ? change.cutTo : Math.max(before, change.at + change.bytes.length));
  }
  return sizes;
}

/** Changes entries in place. */
export function changeEntries(entries: Map<string, Node>, { remove: gone, put: named }: EntryChange): void {
  if (gone !== undefined) entries.delete(gone);
  if (named) entries.set(named.name, named.node);
}
