/** What an answer of HTTP/1 begins with, a character each (RFC 9112 section 4). */
const BEGINNING = [...'HTTP/1.'].map((letter) => (found: string) => found === letter);
const STATUS_LINE: readonly ((found: string) => boolean)[] = [
  ...BEGINNING,
  (found) => found === '0' || found === '1',
  (found) => found === ' ',
  (found) => found >= '1' && found <= '9',
  (found) => found >= '0' && found <= '9',
  (found) => found >= '0' && found <= '9',
  (found) => found === ' ' || found === '\r' || found === '\n',
];
/** All but the tab. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;
/** Blanks and tabs alone: `trim` knows others, which are of the value (RFC 9110 section 5.5). */
const BLANKS_AROUND = /^[ \t]+|[ \t]+$/g;
const EMPTY_LINE = '\r\n\r\n';
const VERSION_AT = 'HTTP/'.length;
const STATUS_AT = 'HTTP/1.1 '.length;

/** Why bytes can't be the beginning of an answer of HTTP/1, as far as they go; undefined while they may be one. */
export function startFault(bytes: Buffer): string | undefined {
  const start = bytes.toString('latin1', 0, STATUS_LINE.length);
  const wrong = [...start].findIndex((found, index) => !STATUS_LINE[index]?.(found));
  // Nothing asks for it, and undici's parser takes it for a defect of its own where no Upgrade field goes with it.
  if (start.startsWith('101', STATUS_AT)) return 'it switches to another protocol, which nobody asked for';
  if (wrong < 0) return undefined;
  if (wrong < VERSION_AT) return 'it does not begin as HTTP does';
  if (wrong < STATUS_AT) return 'its version is neither HTTP/1.0 nor HTTP/1.1';
  return 'its status is not a number from 100 to 999';
}

/** What is wrong with the line ends of a head, or of its beginning: CRLF alone ends a line (RFC 9112 section 2.2). */
export function lineEndFault(head: string): string | undefined {
  if (/(?:^|[^\r])\n/.test(head)) return 'a bare line feed in its head';
  if (/\r[^\n]/.test(head)) return 'a bare carriage return in its head';
  return undefined;
}

/** What is wrong with the status line's phrase or the header fields of a whole head, its empty line included (RFC 9112 sections 5 and 6). */
export function fieldFault(head: string): string | undefined {
  const lengths = new Set<string>();
  let times = 0;
  let coded = false;
  const [statusLine = '', ...lines] = head.slice(0, -EMPTY_LINE.length).split('\r\n');
  if (CONTROL.test(statusLine)) return 'a control character in its status line';
  for (const line of lines) {
    const fault = lineFault(line);
    if (fault !== undefined) return fault;
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    coded ||= name === 'transfer-encoding';
    if (name !== 'content-length') continue;
    times += 1;
    lengths.add(line.slice(colon + 1).replace(BLANKS_AROUND, ''));
  }
  if (lengths.size > 1) return 'two lengths that differ';
  if (times > 1) return 'its length twice';
  if (times > 0 && coded) return 'both a length and a transfer coding';
  return [...lengths].every((length) => /^\d{1,15}$/.test(length)) ? undefined : 'a length that is not a number';
}

function lineFault(line: string): string | undefined {
  if (/^[ \t]/.test(line)) return 'a folded header line';
  const colon = line.indexOf(':');
  if (colon < 0) return 'a header line without a colon';
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(line.slice(0, colon))) return 'a header name with a character that no name has';
  if (CONTROL.test(line.slice(colon + 1))) return 'a control character in a header field';
  return undefined;
}
