// Reads the Range field of a request to the sandbox.
/** A range of bytes, both ends inclusive. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Reads `bytes=a-b`, `bytes=a-` or `bytes=-n` (RFC 9110, section 14.1.2). Returns undefined for anything else, such as
 * several ranges; the whole file is sent then.
 */
export function readRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, from = '', to = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  // Content-Range cannot express a range of an empty file.
  if (from === '' && size === 0) return Number(to) === 0 ? 'unsatisfiable' : undefined;
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (first >= size) return 'unsatisfiable';
  return last < first ? undefined : { first, last };
}
