import { FilingsError } from '../errors.ts';

/** What is known of a file's SHA-256, and what is asked of it. In lower-case hexadecimal digits. */
export interface Proof {
  /** What the file must hash to, where that is known. */
  readonly expected: string | undefined;
  /** Whether a file that comes is hashed: where a hash is expected, or asked for all the same. */
  readonly isHashed: boolean;
}

/** Throws `integrity` for another hash than a file must have; `path` names one that did not come from the service just now. */
export function requireHash(found: string, { expected = found }: Pick<Proof, 'expected'>, path?: string): void {
  if (found === expected) return;
  const why = `wrong hash: its SHA-256 is ${found}, not ${expected}`;
  throw new FilingsError('integrity', path === undefined ? why : `${path}: ${why}`, {
    hint: 'it is not the file that --sha256 means: check both',
  });
}
