/** What a Range header asks of a file; `first` and `last` are offsets of bytes, both inclusive. */
export type RangeVerdict =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly first: number; readonly last: number }
  | { readonly kind: 'unsatisfiable' };

const WHOLE: RangeVerdict = { kind: 'whole' };
const UNSATISFIABLE: RangeVerdict = { kind: 'unsatisfiable' };

/**
 * Reads `bytes=a-b`, `bytes=a-` or `bytes=-n` for a file of `size` bytes (RFC 9110 section 14.1.2).
 * Anything else, several ranges among it, is ignored: the whole file is sent, as the RFC allows.
 */
export function readRange(header: string | undefined, size: number): RangeVerdict {
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '');
  const [, from = '', to = ''] = match ?? [];
  if (from === '' && to === '') return WHOLE;
  if (from === '') return suffix(Number(to), size);
  const first = Number(from);
  const last = to === '' ? Number.POSITIVE_INFINITY : Number(to);
  if (last < first) return WHOLE;
  return first < size ? { kind: 'part', first, last: Math.min(last, size - 1) } : UNSATISFIABLE;
}

function suffix(length: number, size: number): RangeVerdict {
  if (length === 0) return UNSATISFIABLE;
  // An empty file has no last byte that Content-Range could name.
  return size === 0 ? WHOLE : { kind: 'part', first: Math.max(0, size - length), last: size - 1 };
}
