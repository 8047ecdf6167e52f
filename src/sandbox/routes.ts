import { extname } from 'node:path';
import type { Archive } from './archive.ts';
import { fileReply, jsonReply, problem, type Reply } from './reply.ts';
import type { ParsedRequest } from './request.ts';

/** The pages that listings are split into. */
export interface Pages {
  /** The most records of a page. */
  readonly size: number;
  /** The number of the first page, 0 or 1. */
  readonly first: number;
}

type Route = (request: ParsedRequest, archive: Archive, pages: Pages | undefined) => Promise<Reply>;
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

/** Serves the two endpoints (service.md, sections 3 and 4). Rejects if the archive cannot be read. */
export async function route(request: ParsedRequest, archive: Archive, pages?: Pages): Promise<Reply> {
  const { method, resource: instance, traceId } = request;
  if (instance === undefined) return problem(400, { detail: 'the percent-encoding of the path is broken', traceId });
  const handler = ROUTES.get(instance);
  if (handler === undefined) return problem(404, { detail: 'there is no such resource', instance, traceId });
  if (method !== 'GET' && method !== 'HEAD') {
    return problem(405, { detail: 'only GET is allowed', instance, traceId }, { Allow: 'GET, HEAD' });
  }
  return handler(request, archive, pages);
}

async function download(request: ParsedRequest, archive: Archive): Promise<Reply> {
  const errors: Errors = {};
  const accession = accessionOf(request, errors);
  const name = single(request, 'file_name', errors);
  if (name !== undefined && !archive.isFileName(name))
    errors.file_name = ['The field file_name must be the name of one file.'];
  if (accession === undefined || name === undefined || errors.file_name) return invalid(request, errors);
  const file = await archive.open(accession, name);
  if (file) return fileReply(file, mediaType(name), request);
  return problem(404, { detail: 'the filing has no file of that name', traceId: request.traceId });
}

async function filings(request: ParsedRequest, archive: Archive, pages: Pages | undefined): Promise<Reply> {
  const errors: Errors = {};
  const accession = accessionOf(request, errors);
  const page = pages && pageOf(request, pages, errors);
  if (accession === undefined || Object.keys(errors).length > 0) return invalid(request, errors);
  const records = (await archive.list(accession)).map(({ name, size }) => ({
    accession_no: accession,
    file_name: name,
    size,
    type: mediaType(name),
  }));
  const sent = page ? records.slice(page.start, page.start + page.size) : records;
  return jsonReply(200, sent, { 'Content-Type': 'application/json' });
}

/** Returns the range of records that a request selects by `page_size` and `page_number`. Default: the first page. */
function pageOf(
  { query }: ParsedRequest,
  pages: Pages,
  errors: Errors,
): { readonly start: number; readonly size: number } {
  const read = (name: string, least: number, absent: number) => {
    const text = query.get(name);
    const isNumber = text === null || (/^\d{1,6}$/.test(text) && Number(text) >= least);
    if (!isNumber) errors[name] = [`The field ${name} must be a whole number from ${least}.`];
    return text === null ? absent : Number(text);
  };
  const size = Math.min(read('page_size', 1, pages.size), pages.size);
  return { start: (read('page_number', pages.first, pages.first) - pages.first) * size, size };
}

/** Returns the media type, without a charset, because the archive does not know it. */
function mediaType(fileName: string): string {
  return MEDIA_TYPES[extname(fileName).toLowerCase()] ?? 'application/octet-stream';
}

function accessionOf(request: ParsedRequest, errors: Errors): string | undefined {
  const accession = single(request, 'accession_no', errors);
  if (accession === undefined || ACCESSION.test(accession)) return accession;
  errors.accession_no = ['The field accession_no must be 10 digits, a dash, 2 digits, a dash, 6 digits.'];
  return undefined;
}

function single({ query }: ParsedRequest, name: string, errors: Errors): string | undefined {
  const [value, ...more] = query.getAll(name);
  if (value && more.length === 0) return value;
  errors[name] = [value ? `The field ${name} was given more than once.` : `The field ${name} is required.`];
  return undefined;
}

function invalid({ resource: instance = '/', traceId }: ParsedRequest, errors: Errors): Reply {
  return problem(400, { detail: 'the query is not valid', instance, errors, traceId });
}
