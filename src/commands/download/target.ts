import { join, resolve } from 'node:path';
import type { Target } from '../../transfer/fetch-file.ts';
import type { Order } from './order/order.ts';

/** Where a file goes that the layout gives a path below DIR; `--output` alone names its place itself. */
export function targetAt(path: string, { output, directory, ifExists, options }: Order, cwd: string): Target {
  const shown = output ?? join(directory, path);
  return {
    path: resolve(cwd, shown),
    below: output === undefined ? { directory: resolve(cwd, directory), path } : undefined,
    shown,
    makeDirectory: output === undefined,
    ifExists: ifExists ?? (output === undefined ? 'skip' : 'overwrite'),
    sha256: options.sha256,
    hashed: options.checksums,
  };
}
