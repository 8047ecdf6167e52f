import type { HeaderFields } from './messages.ts';

/** How a body's end is told (RFC 9112 section 6.3). */
export type Framing =
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until-close' }
  | { readonly kind: 'unsound'; readonly why: string };

/**
 * Reads the framing from a head. undici lets an unknown transfer coding pass and
 * hands its raw framing over as the body, so anything but exactly `chunked` is unsound.
 */
export function framingOf(headers: HeaderFields): Framing {
  const coding = headers['transfer-encoding'];
  const length = headers['content-length'];
  if (coding !== undefined) {
    if (typeof coding === 'string' && coding.toLowerCase() === 'chunked') return { kind: 'chunked' };
    return { kind: 'unsound', why: `the transfer coding ${JSON.stringify(String(coding))} is not known` };
  }
  if (length === undefined) return { kind: 'until-close' };
  // Blanks behind a value are not of it (RFC 9110 section 5.5); undici leaves them there.
  if (typeof length === 'string' && /^\d{1,15}[ \t]*$/.test(length)) return { kind: 'length', length: Number(length) };
  return { kind: 'unsound', why: `the length ${JSON.stringify(String(length))} is not a number` };
}
