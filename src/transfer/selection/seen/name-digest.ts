import * as crypto from 'node:crypto';

/** 128 bits of a digest, as words of 32. */
export type Digest = readonly [number, number, number, number];

/** Tells files by 128 bits of a digest over an accession number (or nothing) and a name. */
export type Digester = (accession: string, fileName: string) => Digest;

const ASCII = /^[\0-\x7f]*$/;

/** A digest that is another one in each run: names come from outside, and nobody can search for two with the same. */
export function keyedDigester(): Digester {
  const key = crypto.randomBytes(16).toString('hex');
  return (accession, fileName) => {
    const hash = crypto.hash('sha256', key + accession + encoded(fileName), 'binary');
    return [word(hash, 0), word(hash, 4), word(hash, 8), word(hash, 12)];
  };
}

/** As UTF-8 lone surrogates would all be the same. The first character tells it from a name that is not encoded. */
function encoded(fileName: string): string {
  return ASCII.test(fileName) ? fileName : `\u0080${JSON.stringify(fileName)}`;
}

function word(bytes: string, at: number): number {
  return (
    ((bytes.charCodeAt(at) << 24) |
      (bytes.charCodeAt(at + 1) << 16) |
      (bytes.charCodeAt(at + 2) << 8) |
      bytes.charCodeAt(at + 3)) >>>
    0
  );
}
