const CR = 13;
const LF = 10;
const END_OF_MESSAGE = '\r\n\r\n';
const LONGEST_BREAK = '\r\n';

/**
 * Whether bytes behind an answer's end are more than one line break, which old servers send there (RFC 9112 section 2.2).
 */
export function isSurplus(rest: string): boolean {
  return !['', '\n', LONGEST_BREAK].includes(rest);
}

/**
 * The line breaks at a read's end, behind the answer that ended in it: the parser passes over them in silence, however
 * many, when a connection is kept. `lastData` is the piece of the body that a length ended; without it an empty line
 * ended the answer, and is looked for in vain when the read began in the middle of it. As many as decide.
 */
export function breaksBehind(read: Buffer, lastData: Buffer | undefined): string {
  if (lastData) {
    const end = lastData.byteOffset + lastData.length - read.byteOffset;
    return read.toString('latin1', end, end + LONGEST_BREAK.length + 1);
  }
  const fair = END_OF_MESSAGE.length + LONGEST_BREAK.length;
  let start = read.length;
  while (start > 0 && read.length - start <= fair && isBreak(read[start - 1])) start -= 1;
  const breaks = read.toString('latin1', start);
  if (breaks.length > fair) return breaks;
  return breaks.startsWith(END_OF_MESSAGE) ? breaks.slice(END_OF_MESSAGE.length) : '';
}

function isBreak(byte: number | undefined): boolean {
  return byte === CR || byte === LF;
}
