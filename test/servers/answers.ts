import type { Socket } from 'node:net';
import type { Script, SeenRequest } from './scripted.ts';

export const FRAMINGS = ['length', 'chunked', 'until-close'] as const;
export type Framing = (typeof FRAMINGS)[number];
export type Ending = 'FIN' | 'RST';

/** Header fields of a response. */
export type Fields = Readonly<Record<string, string | number>>;

export function head(status: number, fields: Fields = {}): string {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} Said So`, ...lines, '', ''].join('\r\n');
}

/** A complete response as bytes, with the positions at which a cut shows an error. */
export function framed(body: Buffer, framing: Framing, fields: Fields = {}, status = 200) {
  const connection = { Connection: 'close', ...fields };
  if (framing !== 'chunked') {
    const length = framing === 'length' ? { 'Content-Length': body.length } : {};
    return joined(head(status, { ...connection, ...length }), [body]);
  }
  const middle = Math.floor(body.length / 2);
  const pieces = [body.subarray(0, middle), body.subarray(middle)].map((piece) =>
    Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]),
  );
  return joined(head(status, { ...connection, 'Transfer-Encoding': 'chunked' }), [...pieces, Buffer.from('0\r\n\r\n')]);
}

function joined(start: string, pieces: readonly Buffer[]) {
  const bytes = Buffer.concat([Buffer.from(start), ...pieces]);
  const headBytes = Buffer.byteLength(start);
  return { headBytes, pieces, bytes, upTo: (bodyBytes: number) => bytes.subarray(0, headBytes + bodyBytes) };
}

/**
 * Sends bytes and then closes the connection. A reset waits until the bytes are sent, but the reader may not have read
 * them.
 */
export function sendAndEnd(socket: Socket, bytes: Buffer | string, ending: Ending): void {
  if (ending === 'FIN') socket.end(bytes);
  else if (bytes.length === 0) socket.resetAndDestroy();
  else socket.write(bytes, () => setTimeout(() => socket.resetAndDestroy(), 5));
}

/** The first byte of the requested range, or undefined. */
export function rangeStart(request: SeenRequest): number | undefined {
  const start = /^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1];
  return start === undefined ? undefined : Number(start);
}

/** Answers correctly: the whole file, the rest if If-Range matches, or 416 if the range starts at the end. */
export function sendFile(socket: Socket, request: SeenRequest, body: Buffer, etag: string): void {
  const start = rangeStart(request);
  if (start === undefined || request.headers['if-range'] !== etag) {
    socket.write(head(200, { 'Content-Length': body.length, ETag: etag }));
    socket.write(body);
  } else if (start >= body.length) {
    socket.write(nothingLeft(body, etag));
  } else {
    const range = `bytes ${start}-${body.length - 1}/${body.length}`;
    socket.write(head(206, { 'Content-Length': body.length - start, 'Content-Range': range, ETag: etag }));
    socket.write(body.subarray(start));
  }
}

/** A script that serves this file with {@link sendFile}. */
export const whole =
  (body: Buffer, etag = '"v1"'): Script =>
  (socket, request) =>
    sendFile(socket, request, body, etag);

/** A script that closes the connection after the first response, and answers later requests by `then`. */
export const first =
  (bytes: Buffer, then: Script, ending: Ending = 'FIN'): Script =>
  (socket, request) =>
    request.index > 0 ? then(socket, request) : sendAndEnd(socket, bytes, ending);

/** The response to a range that starts at the end of the file. */
function nothingLeft(body: Buffer, etag: string): string {
  return head(416, { 'Content-Length': 0, 'Content-Range': `bytes */${body.length}`, ETag: etag });
}
