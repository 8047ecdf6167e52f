import { extname } from 'node:path';

const BY_EXTENSION: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.gif': 'image/gif',
  '.htm': 'text/html',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.txt': 'text/plain',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.xml': 'application/xml',
  '.xsd': 'application/xml',
  '.zip': 'application/zip',
};

/** The media type by a file name's extension; without a charset, since the archive knows none. */
export function mediaType(fileName: string): string {
  return BY_EXTENSION[extname(fileName).toLowerCase()] ?? 'application/octet-stream';
}
