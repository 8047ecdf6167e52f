import type { ServerResponse } from 'node:http';
import { finished, pipeline } from 'node:stream/promises';
import type { ServedFile } from './archive/archive.ts';

/** A part of an open file; whoever sends it closes the file. */
export interface FileSlice {
  readonly file: ServedFile;
  readonly offset: number;
  readonly length: number;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | FileSlice;
  /** A few words for the log: why it was refused. */
  readonly note?: string;
}

/** Sends a reply; true when the client was there to the end. Never throws. */
export async function send(reply: Reply, response: ServerResponse, withBody: boolean): Promise<boolean> {
  const { status, headers, body } = reply;
  try {
    response.writeHead(status, headers);
    if (Buffer.isBuffer(body) || !withBody) {
      response.end(withBody ? body : undefined);
      await finished(response);
    } else {
      await pipeline(body.file.read(body.offset, body.length), response);
    }
    return true;
  } catch {
    // The head is out: all that is left is to cut the connection, so that nobody takes a part for the whole.
    response.destroy();
    return false;
  } finally {
    if (!Buffer.isBuffer(body)) await body.file.close();
  }
}
