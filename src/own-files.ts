import { join } from 'node:path';

/** The built code of a thread, as `Worker` takes it. */
export interface ThreadCode {
  readonly code: string;
  readonly eval: boolean;
}

/** `name` is that of a file of dist/, without `.js`; `root` is the program's own folder. */
export function threadCode(name: 'hash-worker', root: string): ThreadCode {
  return { code: join(root, `dist/${name}.js`), eval: false };
}
