/**
 * RFC 9110, section 14.1.2. Returns the first and the last byte, both inclusive; `unsatisfiable` for a 416; or
 * undefined for anything else, such as several ranges: the server then sends the whole file, as section 14.2 allows.
 */
export function parseRange(header: string | undefined, size: number) {
  const [, from = '', to = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? [];
  // `bytes=-`, or no match.
  if (from === '' && to === '') return undefined;
  // A range whose end is before its start is invalid.
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined;
  // `bytes=-n` means the last n bytes.
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  return first >= size ? 'unsatisfiable' : { first, last };
}
