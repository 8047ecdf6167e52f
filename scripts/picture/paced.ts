import type { Socket } from 'node:net';
import { head, rangeStart } from '../../test/servers/answers.ts';
import { startArchive } from '../../test/servers/archive.ts';

const ETAG = '"v1"';

/** A service whose one file comes as far as it is told to, in its answer to the last request. */
export interface Paced {
  readonly env: Readonly<Record<string, string>>;
  /** Sends what is missing up to so many hundredths of the file. */
  sendUpTo(percent: number): void;
}

/** `size`: of the file, in bytes, a multiple of 100; it goes on where a request says so. */
export async function startPaced(size: number): Promise<Paced> {
  let to: Socket | undefined;
  let sent = 0;
  const { env } = await startArchive(
    {},
    {
      instead(socket, { request }) {
        to = socket;
        sent = rangeStart(request) ?? 0;
        socket.write(head(sent > 0 ? 206 : 200, fields(sent, size)));
        return true;
      },
    },
  );
  return {
    env,
    sendUpTo(percent) {
      const bytes = (size / 100) * percent;
      to?.write(Buffer.alloc(Math.max(0, bytes - sent)));
      sent = bytes;
    },
  };
}

function fields(from: number, size: number) {
  const common = { 'Content-Length': size - from, ETag: ETAG };
  return from > 0 ? { ...common, 'Content-Range': `bytes ${from}-${size - 1}/${size}` } : common;
}
