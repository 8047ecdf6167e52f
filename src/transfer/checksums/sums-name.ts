import type { ByteText } from '../../disk/byte-text.ts';

/** The file that `--checksums` keeps in each directory. */
const SUMS = 'SHA256SUMS';
const SUMS_NAME = /^SHA256SUMS(?:\.[1-9]\d{0,9}-of-[1-9]\d{0,9})?$/;
const LOCK = /^\.(SHA256SUMS[\w.-]*)\.lock$/;
const REWRITE = /^\.(SHA256SUMS[\w.-]*)\.[\da-f]{12}\.new$/;

/** One of the disjoint parts of an input, as `--shard I/N` says. */
export interface ShardOf {
  readonly index: number;
  readonly count: number;
}

/** The checksum file that a shard appends to; a network disk's appends are not atomic, so there each has its own. */
export function sumsNameFor(shard: ShardOf | undefined, appendsAreAtomic: boolean): string {
  return shard === undefined || appendsAreAtomic ? SUMS : `${SUMS}.${shard.index}-of-${shard.count}`;
}

/** Whether a name is that of a checksum file, a shard's among them. */
export function isSumsName(name: ByteText): boolean {
  return SUMS_NAME.test(name);
}

/** What keeps others from rewriting a checksum file meanwhile. */
export function lockNameOf(sums: string): string {
  return `.${sums}.lock`;
}

/** The file that is to take a checksum file's place; `random` is 12 hexadecimal digits. */
export function rewriteNameOf(sums: string, random: string): string {
  return `.${sums}.${random}.new`;
}

/** The checksum file that a rewrite was meant for; undefined for any other name. */
export function sumsRewrittenBy(name: ByteText): string | undefined {
  return REWRITE.exec(name)?.[1];
}

/** Whether a name is that of a checksum file, or of what stands beside one while it is rewritten. */
export function belongsToSums(name: ByteText): boolean {
  return isSumsName(name) || LOCK.test(name) || REWRITE.test(name);
}
