/**
 * Bytes as text of one character a byte: names on disk are bytes, and need not be UTF-8. As text they are cheap to
 * compare, to split and to send to a thread, and nothing is lost.
 */
export type ByteText = string;

/** One well-formed UTF-8 sequence (RFC 3629 section 4), or any one byte. */
const SEQUENCE =
  /[\0-\x7f]+|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]/g;

/** A name or path of the program's own, as the bytes that stand on disk. */
export function byteText(text: string): ByteText {
  return Buffer.from(text).toString('latin1');
}

/** What system calls take. */
export function bytesOf(text: ByteText): Buffer {
  return Buffer.from(text, 'latin1');
}

/** The bytes as text for people: what is not UTF-8 as `\xe9`. */
export function readable(text: ByteText): string {
  return text.replace(SEQUENCE, (part) =>
    part.length === 1 && part > '\x7f' ? `\\x${part.charCodeAt(0).toString(16)}` : bytesOf(part).toString(),
  );
}
