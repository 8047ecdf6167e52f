import type { ByteText } from '../../../disk/byte-text.ts';

/** Files of one directory that a thread is to hash. */
export interface HashOrder {
  /** The directory's path for system calls. */
  readonly directory: ByteText;
  readonly names: readonly ByteText[];
  /** What each of them must hash to. */
  readonly sha256: readonly string[];
}

/** What a thread found. `large`: not hashed, since it is worth an order of its own. */
export type Found = 'same' | 'missing' | 'changed' | 'large' | { readonly errno: string };

export interface HashAnswer {
  /** In the order's order. */
  readonly found: readonly Found[];
  /** Bytes hashed. */
  readonly bytes: number;
}

/** What a thread says: how far it is within a large file, or its answer. */
export type HashMessage = { readonly moved: number } | HashAnswer;
