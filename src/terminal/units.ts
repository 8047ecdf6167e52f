const SIZES = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** Bytes for people, in decimal units: `999 B`, `1.2 kB`, `143 MB`. */
export function humanBytes(bytes: number): string {
  let size = bytes;
  let unit = 0;
  // 999.5 would round to four digits.
  while (size >= (unit === 0 ? 1000 : 999.5) && unit < SIZES.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit > 0 && size < 9.95 ? size.toFixed(1) : Math.round(size)} ${SIZES[unit]}`;
}
