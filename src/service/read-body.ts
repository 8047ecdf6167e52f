// Reads the bodies of listings and errors into memory. transfer/transfer.ts streams those of files.
import { type Sleep, startTimer } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import type { HttpResponse } from '../http/request.ts';
import { humanBytes } from '../text.ts';

/** A server may send an error slowly or without an end. */
const MAX_ERROR_MS = 5000;
/** The limit both before and after decoding. */
const MAX_ERROR_BYTES = 1 << 20;
/** What servers put into Content-Encoding although nothing is compressed. S3 stores `aws-chunked` with some uploads. */
const NO_COMPRESSION = ['identity', 'none', 'binary', 'aws-chunked', 'utf-8', 'us-ascii', 'iso-8859-1', 'windows-1252'];

type OnBytes = (bytes: number) => void;

export function readCodings({ headers }: Pick<HttpResponse, 'headers'>): readonly string[] {
  const field = headers['content-encoding'];
  if (field === undefined) return [];
  const codings = String(field)
    .toLowerCase()
    .split(',')
    .flatMap((coding) => coding.trim() || []);
  // Next to another coding, it is not clear what such a name means.
  return NO_COMPRESSION.includes([...new Set(codings)].join()) ? [] : codings;
}

export async function readAtMost(response: HttpResponse, maxBytes: number, onBytes: OnBytes): Promise<Buffer> {
  if ((response.contentLength ?? 0) <= maxBytes) {
    const { bytes, isWhole, error } = await readStart(response, maxBytes, onBytes);
    if (error) throw error;
    if (isWhole) return bytes;
  }
  response.discard();
  const reason = `the response is larger than the limit of ${humanBytes(maxBytes)}`;
  throw new FilingsError('integrity', reason, { hint: 'check the base URL: this is no listing' });
}

/**
 * Returns the decoded body, or its beginning if the connection ends early or a limit is reached. Throws no error of the
 * network, because the status alone makes a useful message.
 */
export async function readErrorBytes(response: HttpResponse, sleep: Sleep, signal: AbortSignal, onBytes: OnBytes) {
  // `discard` closes the connection, which makes the read below fail.
  const stopTimer = startTimer(MAX_ERROR_MS, sleep, response.discard);
  const { bytes } = await readStart(response, MAX_ERROR_BYTES, onBytes);
  stopTimer();
  response.discard();
  // The error of `readStart` may be the signal's reason.
  signal.throwIfAborted();
  let body: Buffer = bytes.subarray(0, MAX_ERROR_BYTES);
  // Servers use one, or two by mistake. The limit is for time: each may decode to a megabyte.
  for (const coding of readCodings(response).slice(-3).reverse()) body = await decode(body, coding);
  return body;
}

/** Returns the body, or its beginning if it has more than `maxBytes`. It can be read again. */
export async function peek(response: HttpResponse, maxBytes: number): Promise<Buffer> {
  // An error ends the body, too, but it is not lost: the next read throws it again.
  const { bytes } = await readStart(response, maxBytes, () => {});
  response.body.unread(bytes);
  return bytes;
}

/**
 * Some servers compress errors although the request asks for `identity` (RFC 9110, section 8.4.1). Returns nothing if
 * the body cannot be decoded: nobody could read the encoded bytes in an error message.
 */
async function decode(bytes: Buffer, name: string): Promise<Buffer> {
  if (NO_COMPRESSION.includes(name)) return bytes;
  const { brotliDecompressSync, constants, inflateRawSync, unzipSync } = await import('node:zlib');
  // With Z_SYNC_FLUSH, a truncated body is decoded as far as it goes, instead of failing.
  const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MAX_ERROR_BYTES };
  try {
    if (name === 'br')
      return brotliDecompressSync(bytes, { ...options, finishFlush: constants.BROTLI_OPERATION_FLUSH });
    // `deflate` should have the zlib wrapper (RFC 1950), in which the low four bits of the first byte are 8, but some
    // servers omit it.
    if (name === 'deflate' && ((bytes[0] ?? 0) & 15) !== 8) return inflateRawSync(bytes, options);
    if (/^(x-gzip|gzip|deflate)$/.test(name)) return unzipSync(bytes, options);
  } catch {
    // The bytes do not have the encoding that the header states, or decode to more than `maxOutputLength`.
  }
  return Buffer.alloc(0);
}

/** Reads until the end, an error, or a little more than `maxBytes`. */
async function readStart({ body }: HttpResponse, maxBytes: number, onBytes: OnBytes) {
  const pieces: Buffer[] = [];
  let size = 0;
  let isWhole = false;
  let error: unknown;
  try {
    while (size <= maxBytes && !isWhole) {
      const chunks = await body.read();
      isWhole = chunks === undefined;
      // `concat` copies the chunks, whose memory the next read reuses.
      const piece = Buffer.concat(chunks ?? []);
      pieces.push(piece);
      size += piece.length;
      onBytes(piece.length);
    }
  } catch (thrown) {
    error = thrown;
  }
  return { bytes: Buffer.concat(pieces), isWhole, error };
}
