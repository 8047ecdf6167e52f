import { extname } from 'node:path';
import { type Archive, isFileName } from './archive.ts';
import { fileReply, jsonReply, problem, type Reply } from './reply.ts';
import type { Asked } from './request.ts';

type Route = (asked: Asked, archive: Archive) => Promise<Reply>;
type Errors = Record<string, string[]>;

const ROUTES: ReadonlyMap<string, Route> = new Map([
  ['/v1/download', download],
  ['/v1/filings', filings],
]);
const ACCESSION = /^\d{10}-\d{2}-\d{6}$/;
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.htm': 'text/html',
  '.html': 'text/html',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.pdf': 'application/pdf',
  '.txt': 'text/plain',
  '.xml': 'application/xml',
  '.xsd': 'application/xml',
  '.zip': 'application/zip',
};

/** Contract part 4. Rejects when the archive can't be read. */
export async function route(asked: Asked, archive: Archive): Promise<Reply> {
  const { method, resource: instance, traceId } = asked;
  if (instance === undefined) return problem(400, { detail: 'the percent-encoding of the path is broken', traceId });
  const handler = ROUTES.get(instance);
  if (handler === undefined) return problem(404, { detail: 'there is no such resource', instance, traceId });
  if (method !== 'GET' && method !== 'HEAD') {
    return problem(405, { detail: 'only GET is allowed', instance, traceId }, { Allow: 'GET, HEAD' });
  }
  return handler(asked, archive);
}

async function download(asked: Asked, archive: Archive): Promise<Reply> {
  const errors: Errors = {};
  const accession = accessionOf(asked, errors);
  const name = single(asked, 'file_name', errors);
  if (name !== undefined && !isFileName(name)) errors.file_name = ['The field file_name must be the name of one file.'];
  if (accession === undefined || name === undefined || errors.file_name) return invalid(asked, errors);
  const file = await archive.open(accession, name);
  if (file) return fileReply(file, mediaType(name), asked);
  return problem(404, { detail: 'the filing has no file of that name', traceId: asked.traceId });
}

async function filings(asked: Asked, archive: Archive): Promise<Reply> {
  const errors: Errors = {};
  const accession = accessionOf(asked, errors);
  if (accession === undefined) return invalid(asked, errors);
  const records = (await archive.list(accession)).map(({ name, size }) => ({
    accession_no: accession,
    file_name: name,
    size,
    type: mediaType(name),
  }));
  return jsonReply(200, records, { 'Content-Type': 'application/json' });
}

/** Without a charset, since the archive knows none. */
function mediaType(fileName: string): string {
  return MEDIA_TYPES[extname(fileName).toLowerCase()] ?? 'application/octet-stream';
}

function accessionOf(asked: Asked, errors: Errors): string | undefined {
  const accession = single(asked, 'accession_no', errors);
  if (accession === undefined || ACCESSION.test(accession)) return accession;
  errors.accession_no = ['The field accession_no must be 10 digits, a dash, 2 digits, a dash, 6 digits.'];
  return undefined;
}

function single({ query }: Asked, name: string, errors: Errors): string | undefined {
  const [value, ...more] = query.getAll(name);
  if (value && more.length === 0) return value;
  errors[name] = [value ? `The field ${name} was given more than once.` : `The field ${name} is required.`];
  return undefined;
}

function invalid({ resource: instance = '/', traceId }: Asked, errors: Errors): Reply {
  return problem(400, { detail: 'the query is not valid', instance, errors, traceId });
}
