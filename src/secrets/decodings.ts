/**
 * A text in one of its readings: as it stands, or with its escapes undone. One character a byte of UTF-8, and folded,
 * so that letters in either case and both alphabets of base64 are alike.
 */
export interface Reading {
  readonly text: string;
  /** Where in the text as it stands a character began; one more than there are characters. Absent: where it is. */
  readonly at?: readonly number[];
}

/** A redirect to a login page in a JSON string in an attribute of HTML: nobody escapes more often than that. */
const DEEPEST = 6;

/** %XX (RFC 3986), JSON and its relatives, entities of HTML and XML. Folded text has no capitals. */
const ESCAPE =
  /%([0-9a-f]{2})|\\(?:u([0-9a-f]{4})|x([0-9a-f]{2})|(["'\\/bfnrt]))|&(?:#(\d{1,7});|#x([0-9a-f]{1,6});|([a-z]{2,8});)/g;
const SHORT: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
/** The entities of ASCII, each before its character. */
const ENTITIES = new Map(
  `excl! quot" num# dollar$ percnt% amp& apos' lpar( rpar) ast* plus+ comma, hyphen- period. sol/ colon: semi; lt<
   equals= gt> quest? commat@ lsqb[ lbrack[ bsol\\ rsqb] rbrack] hat^ lowbar_ grave\` lcub{ lbrace{ verbar| vert| rcub}
   rbrace}`
    .split(/\s+/)
    .map((entity) => [entity.slice(0, -1), Buffer.from(entity.slice(-1))]),
);

/** The readings of a text: as it stands first, then with escapes undone, again and again until there are none. */
export function* readingsOf(text: string): Generator<Reading> {
  let reading: Reading | undefined = { text: folded(Buffer.from(text)) };
  for (let depth = 0; reading !== undefined && depth <= DEEPEST; depth += 1) {
    yield reading;
    reading = unescaped(reading);
  }
}

/** A reading with one level of its escapes undone; undefined when it has none. */
function unescaped({ text, at }: Reading): Reading | undefined {
  let plain = '';
  let done = 0;
  const starts: number[] = [];
  const take = (piece: string, from: number, step: 0 | 1) => {
    plain += piece;
    for (let index = 0; index < piece.length; index += 1) starts.push(from + index * step);
  };
  for (const written of text.matchAll(ESCAPE)) {
    const meant = meaningOf(written);
    if (meant === undefined) continue;
    take(text.slice(done, written.index), done, 1);
    take(meant.toString('latin1'), written.index, 0);
    done = written.index + written[0].length;
  }
  if (done === 0) return undefined;
  take(text.slice(done), done, 1);
  starts.push(text.length);
  return {
    text: folded(Buffer.from(plain, 'latin1')),
    at: at === undefined ? starts : starts.map((start) => at[start] ?? start),
  };
}

/** The bytes that an escape stands for; undefined when it is none after all. */
function meaningOf([, percent, unit, byte, short, decimal, hex, name]: RegExpExecArray): Buffer | undefined {
  if (percent !== undefined) return Buffer.from(percent, 'hex');
  if (short !== undefined) return Buffer.from(SHORT[short] ?? short);
  if (name !== undefined) return ENTITIES.get(name);
  const point = decimal === undefined ? Number.parseInt(unit ?? byte ?? hex ?? '', 16) : Number(decimal);
  return Buffer.from(point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd');
}

const FOLD = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte === 0x2d ? 0x2b : byte === 0x5f ? 0x2f : byte,
);

/** Bytes as text, a character each: small letters, `+` for `-`, `/` for `_`. */
export function folded(bytes: Buffer): string {
  const text = Buffer.allocUnsafe(bytes.length);
  for (let index = 0; index < bytes.length; index += 1) text[index] = FOLD[bytes[index] ?? 0] ?? 0;
  return text.toString('latin1');
}
