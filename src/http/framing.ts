import type { HeaderFields } from './request.ts';

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
    if (length !== undefined) return { kind: 'unsound', why: 'both a length and a transfer coding' };
    if (typeof coding === 'string' && coding.toLowerCase() === 'chunked') return { kind: 'chunked' };
    return { kind: 'unsound', why: `the transfer coding ${JSON.stringify(String(coding))} is not known` };
  }
  if (length === undefined) return { kind: 'until-close' };
  // Blanks behind a value are not of it (RFC 9110 section 5.5); undici leaves them there.
  if (typeof length === 'string' && /^\d{1,15}[ \t]*$/.test(length)) return { kind: 'length', length: Number(length) };
  return { kind: 'unsound', why: `the length ${JSON.stringify(String(length))} is not a number` };
}

const STATUS_LINE = /^HTTP\/1\.[01] ([1-9]\d\d)/;
const STATUS_BYTES = 'HTTP/1.1 200'.length;

/**
 * What is wrong with the beginning of an answer, behind interim ones: undici's parser takes RTSP and HTTP/2.0 for
 * HTTP/1, and dies of a status below 100. Null where nothing is wrong, undefined where more must come to tell.
 */
export function startFault(text: string): string | null | undefined {
  if (text.length < STATUS_BYTES) return undefined;
  if (!text.startsWith('HTTP/')) return 'it does not begin as HTTP does';
  if (!/^HTTP\/1\.[01] /.test(text)) return 'its version is neither HTTP/1.0 nor HTTP/1.1';
  const status = STATUS_LINE.exec(text)?.[1];
  if (status === undefined) return 'its status is not a number from 100 to 999';
  if (status === '101') return 'it switches to another protocol, which nobody asked for';
  if (!status.startsWith('1')) return null;
  const end = text.indexOf('\r\n\r\n');
  return end < 0 ? undefined : startFault(text.slice(end + 4));
}
