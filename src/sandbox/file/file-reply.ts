import type { IncomingHttpHeaders } from 'node:http';
import type { ServedFile } from '../archive/archive.ts';
import { mediaType } from '../archive/media-type.ts';
import { problem } from '../problem.ts';
import type { Reply } from '../reply.ts';
import { allowsRange, isNotModified } from './preconditions.ts';
import { readRange } from './range.ts';

export interface FileRequest {
  readonly name: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly traceId: string;
}

/** The answer to a download: 200, 206, 304 or 416. Closes the file unless the answer's body holds it. */
export async function fileReply(file: ServedFile, request: FileRequest): Promise<Reply> {
  const { size } = file;
  const validators = { etag: file.etag, lastModified: lastModified(file, request.now) };
  const common = {
    'Accept-Ranges': 'bytes',
    ETag: validators.etag,
    ...(validators.lastModified === undefined ? {} : { 'Last-Modified': validators.lastModified }),
  };
  if (isNotModified(request.headers, validators)) {
    await file.close();
    return { status: 304, headers: common, body: Buffer.alloc(0) };
  }
  const asked = request.method === 'GET' && allowsRange(request.headers, validators, request.now);
  const range = readRange(asked ? request.headers.range : undefined, size);
  if (range.kind === 'unsatisfiable') {
    await file.close();
    const details = { detail: `the file has ${size} bytes`, traceId: request.traceId };
    return problem(416, details, { ...common, 'Content-Range': `bytes */${size}` });
  }
  const headers = { ...common, 'Content-Type': mediaType(request.name) };
  if (range.kind === 'whole') {
    return {
      status: 200,
      headers: { ...headers, 'Content-Length': `${size}` },
      body: { file, offset: 0, length: size },
    };
  }
  const { first, last } = range;
  const length = last - first + 1;
  const part = { 'Content-Length': `${length}`, 'Content-Range': `bytes ${first}-${last}/${size}` };
  return { status: 206, headers: { ...headers, ...part }, body: { file, offset: first, length } };
}

/** No time later than the answer's own may be told (RFC 9110 section 8.8.2.1). */
function lastModified(file: ServedFile, now: number): string | undefined {
  return file.modifiedAt > now ? undefined : new Date(file.modifiedAt).toUTCString();
}
