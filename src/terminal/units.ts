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

/** Milliseconds for people: `0.4 s`, `12 s`, `3 min 5 s`, `2 h 5 min`, `3 d 4 h`. */
export function humanDuration(milliseconds: number): string {
  if (milliseconds < 9950) return `${(Math.max(0, milliseconds) / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return pair(seconds, 60, 'min', 's');
  const minutes = Math.round(seconds / 60);
  if (minutes < 1440) return pair(minutes, 60, 'h', 'min');
  return pair(Math.round(minutes / 60), 24, 'd', 'h');
}

function pair(amount: number, of: number, large: string, small: string): string {
  const rest = amount % of;
  return `${Math.floor(amount / of)} ${large}${rest === 0 ? '' : ` ${rest} ${small}`}`;
}
