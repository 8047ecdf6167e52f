// Parses the Range field of a request to the sandbox, which is the local server that imitates the service.

/**
 * Parses `bytes=a-b`, `bytes=a-` or `bytes=-n` (RFC 9110, section 14.1.2) for a file of `size` bytes. Returns the first
 * and the last byte of the range, both inclusive. Returns `unsatisfiable` if the file has no byte of the range, which
 * the server refuses with 416. Returns undefined for anything else, such as several ranges. The server then sends
 * the whole file, as section 14.2 allows.
 */
export function parseRange(header: string | undefined, size: number) {
  const [, from = '', to = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? [];
  // No match, or `bytes=-`.
  if (from === '' && to === '') return undefined;
  // A range whose end is before its start is invalid.
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined;
  // `bytes=-n` means the last n bytes.
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  return first >= size ? 'unsatisfiable' : { first, last };
}
