// Parses the Range field of a request to the sandbox.

/**
 * Parses `bytes=a-b`, `bytes=a-` or `bytes=-n` (RFC 9110, section 14.1.2). Both ends are inclusive. Returns undefined
 * for anything else, such as several ranges. The server then sends the whole file, as section 14.2 allows.
 */
export function parseRange(header: string | undefined, size: number) {
  const [, from = '', to = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (first >= size) return 'unsatisfiable';
  return last < first ? undefined : { first, last };
}
