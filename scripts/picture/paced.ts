import type { Socket } from 'node:net';
import { head, rangeStart } from '../../test/servers/answers.ts';
import { startArchive } from '../../test/servers/archive.ts';

const ETAG = '"v1"';

/** A service with one file. Its last response sends as much as the test says. */
export interface Paced {
  readonly env: Readonly<Record<string, string>>;
  /** Sends the file up to this percentage. */
  sendUpTo(percent: number): void;
}

/** Starts the service. `size` is that of the file in bytes, a multiple of 100. Ranges are supported. */
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
