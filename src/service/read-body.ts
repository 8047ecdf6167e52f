// Reads the bodies of listings and errors into memory, with bounds of size and time.
import { createAbortController, type Sleep } from '../abort.ts';
import { errorAbout, type Resource } from '../errors.ts';
import type { HttpResponse } from '../http/request.ts';

/** The longest time for reading an error, in milliseconds, because a server may send it slowly and without an end. */
const MAX_ERROR_MS = 5000;
/** The most that is read of an error, as it arrives and decoded. */
const MAX_ERROR_BYTES = 1 << 20;

/**
 * Returns the body of a response. Calls `onBytes` with the size of each piece. Throws `integrity` if the body is larger
 * than `maxBytes`, and the error of a body that ends early.
 */
export async function readAtMost(
  response: HttpResponse,
  maxBytes: number,
  resource: Resource,
  onBytes: (bytes: number) => void,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const canFit = (response.length ?? 0) <= maxBytes;
  if (canFit && (await readPieces(response, maxBytes, pieces, onBytes))) return Buffer.concat(pieces);
  response.discard();
  throw errorAbout(resource, 'integrity', `larger than ${maxBytes} bytes, the most that is read`);
}

/**
 * Returns the decoded body of an error response, truncated if the connection, the time or the size ends the body early.
 * Throws the signal's reason.
 */
export async function readErrorBytes(response: HttpResponse, sleep: Sleep, signal: AbortSignal) {
  const pieces: Buffer[] = [];
  const timer = createAbortController();
  sleep(MAX_ERROR_MS, timer.signal).then(response.discard, () => {});
  const isWhole = await readPieces(response, MAX_ERROR_BYTES, pieces).catch(() => false);
  timer.abort();
  response.discard();
  signal.throwIfAborted();
  const received = Buffer.concat(pieces);
  const body = await decoded(received, String(response.headers['content-encoding'] ?? ''));
  return { received: received.length, body, isTruncated: !isWhole || body.length === MAX_ERROR_BYTES };
}

/**
 * Returns a body without its content coding (RFC 9110, section 8.4.1), as far as it can be decoded: some servers
 * compress errors although nobody asked for it. An unknown coding gives nothing, because nobody could read it.
 */
async function decoded(bytes: Buffer, coding: string): Promise<Buffer> {
  const name = coding.trim().toLowerCase();
  if (name === '' || name === 'identity') return bytes.subarray(0, MAX_ERROR_BYTES);
  const { brotliDecompressSync, constants, inflateRawSync, unzipSync } = await import('node:zlib');
  // The end of a body that was cut is missing, and nobody reads a message of more than a megabyte.
  const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MAX_ERROR_BYTES };
  try {
    if (name === 'br')
      return brotliDecompressSync(bytes, { ...options, finishFlush: constants.BROTLI_OPERATION_FLUSH });
    // Some servers leave the wrapper out (RFC 1950), which begins with an 8.
    if (name === 'deflate' && ((bytes[0] ?? 0) & 15) !== 8) return inflateRawSync(bytes, options);
    if (/^(x-gzip|gzip|deflate)$/.test(name)) return unzipSync(bytes, options);
  } catch {
    // It is not what its coding says.
  }
  return Buffer.alloc(0);
}

/**
 * Adds the body's bytes to `pieces`, copied because the body reuses its memory. Returns false if there are too many.
 */
async function readPieces(
  { body }: HttpResponse,
  maxBytes: number,
  pieces: Buffer[],
  onBytes?: (bytes: number) => void,
): Promise<boolean> {
  let size = 0;
  for (let chunks = await body.read(); chunks; chunks = await body.read()) {
    const piece = Buffer.concat(chunks);
    pieces.push(piece);
    size += piece.length;
    onBytes?.(piece.length);
    if (size > maxBytes) return false;
  }
  return true;
}
