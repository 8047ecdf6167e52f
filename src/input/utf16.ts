// PowerShell writes files and pipes as UTF-16. This makes a stream of UTF-16 one of UTF-8 before it is split into
// lines.
import { StringDecoder } from 'node:string_decoder';

type Decode = (chunk: Buffer, isLast: boolean) => Buffer;

/** No character of UTF-8 has this byte, so it makes a line invalid. */
const INVALID = Buffer.from([0xff]);

/**
 * Yields a stream as UTF-8 if it begins with a byte-order mark of UTF-16, otherwise unchanged. An unpaired surrogate
 * becomes a byte that UTF-8 does not have.
 */
export async function* asUtf8(stream: AsyncIterable<Uint8Array | string>): AsyncGenerator<Buffer> {
  let start = Buffer.alloc(0);
  let decode: Decode | undefined;
  for await (const bytes of stream) {
    const chunk = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes as Uint8Array);
    if (decode) {
      yield decode(chunk, false);
      continue;
    }
    start = Buffer.concat([start, chunk]);
    if (start.length < 2) continue;
    decode = decoderFor(start);
    yield decode(start, false);
  }
  yield decode ? decode(Buffer.alloc(0), true) : start;
}

function decoderFor(start: Buffer): Decode {
  const mark = start.readUInt16BE(0);
  if (mark !== 0xfffe && mark !== 0xfeff) return (chunk) => chunk;
  const decoder = new StringDecoder('utf16le');
  let rest = Buffer.alloc(0);
  return (chunk, isLast) => {
    const bytes = Buffer.concat([rest, chunk]);
    const even = bytes.length - (bytes.length % 2);
    rest = bytes.subarray(even);
    const units = bytes.subarray(0, even);
    const text = decoder.write(mark === 0xfeff ? units.swap16() : units) + (isLast ? decoder.end() : '');
    // With the flag `u` a regular expression finds only unpaired surrogates.
    const pieces = text.split(/\p{Cs}/u).flatMap((piece) => [INVALID, Buffer.from(piece)]);
    return Buffer.concat([...pieces.slice(1), ...(isLast && rest.length > 0 ? [INVALID] : [])]);
  };
}
