import { join, resolve } from 'node:path';
import type { FileItem } from '../../batch/item.ts';
import type { Target } from '../../transfer/download.ts';
import type { Order } from './order/order.ts';

/** Where files go that the layout gives a path below DIR; `--output` alone names its place itself. */
export function targetsOf(
  { output, directory, ifExists, options }: Order,
  cwd: string,
): (file: Pick<FileItem, 'path' | 'accession' | 'size'>) => Target {
  const { sha256, checksums: hashed } = options;
  if (output !== undefined) {
    const target = { path: resolve(cwd, output), shown: output, makeDirectory: false, sha256, hashed };
    return () => ({ ...target, ifExists: ifExists ?? 'overwrite' });
  }
  const absolute = resolve(cwd, directory);
  const inside = join(absolute, '/');
  const shown = join(directory, '/').replace(/^\.\//, '');
  const inDirectory = new Set(absolute.split('/'));
  return ({ path, accession, size }) => ({
    path: inside + path,
    below: { directory: absolute, path },
    shown: shown + path,
    makeDirectory: true,
    // Where nothing but this filing's files go, what exists is this file; elsewhere it may be another filing's.
    ifExists: ifExists ?? (isOwn(path, accession) || inDirectory.has(accession) ? 'skip' : 'compare'),
    listedSize: size,
    sha256,
    hashed,
  });
}

/** Whether the accession number is a whole segment of a path, but its last. */
function isOwn(path: string, accession: string): boolean {
  return path.startsWith(`${accession}/`) || path.includes(`/${accession}/`);
}
