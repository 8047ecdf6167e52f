/**
 * The bytes of canonical base64url (RFC 7515 section 2, RFC 4648 section 3.5): no padding, no other
 * character, no bits left over. Undefined for anything else; nothing is the encoding of no bytes.
 */
export function decodeBase64url(text: string): Buffer | undefined {
  // The decoder skips and repairs; the encoder writes nothing but the canonical text.
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/** What is wrong with text that is not canonical base64url, as the end of a sentence. */
export function base64urlFault(text: string): string {
  if (/[\r\n]/.test(text)) return 'has a line break inside';
  if (/\s/.test(text)) return 'has white space inside';
  if (/^[\w-]+=+$/.test(text)) return 'is padded with "="';
  if (/^[\w+/-]+=*$/.test(text) && /[+/]/.test(text)) return 'is base64 of the other alphabet (+ and /), not base64url';
  if (!/^[\w-]*$/.test(text)) return 'has characters that base64url has not';
  if (text.length % 4 === 1) return 'has a length that base64url can not have: it was cut';
  return 'has bits left over in its last character: it was changed, or made by a sloppy encoder';
}
