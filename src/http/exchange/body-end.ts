import { FilingsError } from '../../errors.ts';
import type { OpenSocket } from '../connection/connect.ts';
import { isFieldOverflow, tooManyBehind, truncated, type Unfinished } from './answer-failure.ts';
import { breaksBehind, isSurplus } from './surplus.ts';

/**
 * What makes the end of a body doubtful that only the connection ended (RFC 9112 section 9.8): a reset, or over TLS
 * that no closure alert was seen. To be called as the end is told, and once a connection.
 */
export function closureDoubt(connection: OpenSocket, reset: boolean, body: Unfinished): FilingsError | undefined {
  if (connection.end === 'fin') return reset || lostItsPeer(connection) ? unproved(truncated(body)) : undefined;
  if (connection.intake.closureSeen) return undefined;
  const error = truncated(body);
  return unproved(
    error.reworded(`${error.message}, without the closure alert that ends TLS`, {
      hint: 'a service that sends no length must close TLS: tell whoever runs it; --sha256 proves a file all the same',
    }),
  );
}

const unproved = (error: FilingsError) => error.reworded(error.message, { fault: 'unproved-end' });

/**
 * A reset right behind the last bytes reaches us as an ordinary end; but then the
 * peer's address is gone, while after FIN it is still there. Node caches the
 * address, so nothing may have read it before.
 */
function lostItsPeer({ socket }: OpenSocket): boolean {
  return socket.remoteAddress === undefined;
}

/**
 * What makes the end of a body doubtful that its length or its last chunk ended: bytes behind it, which a length that
 * is counted wrongly leaves over, or too many fields. To be called once the parser has gone through all that came with the end: `lastRead`
 * is what it was given then, `lastData` the last piece of a body that a length ended.
 */
export function surplusDoubt(
  { socket, intake }: OpenSocket,
  url: URL,
  lastRead: Buffer,
  lastData: Buffer | undefined,
): FilingsError | undefined {
  // The parser goes on to the end of what it was given, and so the answer may end all the same.
  if (isFieldOverflow(socket.errored)) return tooManyBehind(url, socket.errored);
  // On a connection that is kept the parser goes on: it chokes on anything but line breaks, which it passes over.
  const choked = socket.errored?.message === 'bad response';
  // Nothing is unparsed where it went on, also when a reset has ended the connection in this very turn.
  const unparsed = socket.destroyed ? intake.unparsed.toString('latin1', 0, 3) : '';
  const rest = unparsed || breaksBehind(lastRead, lastData);
  if (!choked && !isSurplus(rest)) return undefined;
  return new FilingsError('integrity', `${url.host}: more bytes came than the answer has, so its length is in doubt`, {
    hint: 'the service or a proxy counts wrongly: tell whoever runs it; --sha256 proves a file all the same',
    fault: 'surplus',
  });
}
