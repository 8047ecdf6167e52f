// The body of an error may be problem details, other JSON, HTML, XML or text: the service responds, or a gateway. The
// content decides how it is parsed, because media types are often wrong (docs/service.md, section 8).
import { STATUS_CODES } from 'node:http';
import { type ErrorCode, FilingsError, type Problem, type Resource } from '../errors.ts';
import type { HeaderFields } from '../http/head.ts';
import type { HttpResponse } from '../http/request.ts';
import { RETRIED_STATUSES } from '../http/retry.ts';
import { isJsonObject, type JsonObject, parseJson, parseStrictly } from '../json.ts';
import { markForRedaction, type Secrets } from '../secrets.ts';
import { shellWord } from '../text.ts';
import { peek } from './read-body.ts';

export const CHECK_NUMBER_AND_URL = 'check the accession number and the base URL';

export interface ErrorResponse {
  readonly status: number;
  readonly headers: HeaderFields;
  /** The content encoding has been removed. */
  readonly body: Buffer;
  readonly resource: Resource;
  readonly retryAt?: number | undefined;
  readonly hint?: string | undefined;
}

export function errorFromResponse(response: ErrorResponse, secrets: Secrets): FilingsError {
  const { status, headers, body, resource, retryAt } = response;
  const code = codeForStatus(status);
  // The body of an unexpected 2xx, such as a 206 that nobody requested, is ordinary content, which should not be quoted
  // as an error message. But JSON may be problem details, which are an error under any status.
  const isContent = status > 200 && status < 300 && !/json/i.test(String(headers['content-type']));
  const text = isContent ? '' : new TextDecoder().decode(body);
  const { value: json } = parseStrictly(text);
  const members = isJsonObject(json) ? json : undefined;
  const summary = members ? findSummaryInJson(members) : findSummaryInText(text.trim(), secrets);
  const phrase = STATUS_CODES[status] ?? '';
  const challenge = headers['www-authenticate'];
  const reason = `${status} ${phrase}`.trim();
  return new FilingsError(
    code,
    status === 200 ? `${reason}, but the body is an error` : status < 300 ? `unexpected response: ${reason}` : reason,
    {
      subject: { resource },
      quote: (summary && withoutStatus(summary, status, phrase)) || undefined,
      remarks: challenge ? [`it asks for ${markForRedaction(String(challenge))}`] : undefined,
      hint: response.hint ?? hintFor(response, code, typeof json === 'object'),
      problem: { ...(members && readProblem(members)), status },
      retryable: RETRIED_STATUSES.has(status),
      // A 403 may be about one file.
      stopsRun: status === 401 || status === 407,
      retryAt,
    },
  );
}

function codeForStatus(status: number): ErrorCode {
  if (status === 401 || status === 403 || status === 407) return 'auth';
  if (status === 404 || status === 410) return 'not_found';
  if ([408, 425, 429].includes(status) || (status >= 500 && status <= 599)) return 'temporary';
  if (status >= 400 && status <= 499) return 'rejected';
  return 'integrity';
}

/** Titles of pages often repeat the status: `404 Not Found: HTTP Status 404 - Not found.` would say it three times. */
function withoutStatus(summary: string, status: number, phrase: string): string {
  const line = summary.replace(/\s+/g, ' ').trim();
  const words = (text: string) =>
    text.toLowerCase().replace(new RegExp(`\\b(http|error|status|code|${status})\\b|[^\\p{L}\\p{N}]`, 'gu'), '');
  if (['', words(phrase)].includes(words(line))) return '';
  return line.replace(new RegExp(`^((http|error|status|code)\\b[\\s:]*){0,3}${status}\\b[^\\p{L}\\p{N}]*`, 'iu'), '');
}

/** Undefined if the general hint for the code is enough. */
function hintFor({ status, resource }: ErrorResponse, code: ErrorCode, isJson: boolean): string | undefined {
  if (status === 429) return 'wait, then run it again with fewer requests: --rate 1/s, --jobs 1';
  if (status === 407)
    return 'a proxy in between requires a password: set HTTPS_PROXY or HTTP_PROXY to http://USER:PASSWORD@HOST:PORT';
  // Some services answer too many requests with a 403 instead of a 429 (docs/service.md, section 8).
  if (code === 'auth')
    return 'the key may lack permission; if the service limits requests, wait, then run it again with --rate 1/s';
  if (code === 'temporary') return undefined;
  if (code === 'integrity') return 'check the base URL';
  if (code === 'not_found' && resource.fileName === undefined) return CHECK_NUMBER_AND_URL;
  if (code === 'not_found' && /[*?]/.test(resource.fileName ?? ''))
    return `to choose files by a pattern: filings download ${resource.accession} --include ${shellWord(resource.fileName ?? '')}`;
  if (code === 'not_found')
    return `check the file name, the accession number and the base URL; to see the files: filings list ${resource.accession}`;
  // Only the service itself answers with JSON. Any other text may come from a server that has nothing to do with it.
  if (isJson && (status === 400 || status === 422))
    return `check the accession number${resource.fileName === undefined ? '' : ' and the file name'}`;
  if ([400, 405, 421].includes(status)) return 'check the base URL: its scheme, host, port and path';
  return undefined;
}

function findSummaryInJson(body: JsonObject): string | undefined {
  for (const name of ['title', 'error', 'message']) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    if (typeof value === 'string' && value.trim() !== '') return value;
    const nested = isJsonObject(value) ? findSummaryInJson(value) : undefined;
    if (nested !== undefined) return nested;
  }
  return undefined;
}

function findSummaryInText(text: string, secrets: Secrets): string | undefined {
  if (!text.startsWith('<')) return text.split(/[\r\n]/, 1)[0];
  // Redacted before a part is cut out, because that could cut a secret which contains `<`.
  return /<(?:title|message|h1)\b[^<>]*>\s*([^<\s][^<]*)/i.exec(secrets.redact(text))?.[1];
}

const STRING_MEMBERS = ['type', 'title', 'instance'];

/** Members of the wrong type are ignored (RFC 9457, section 3.1), and so are empty ones. */
function readProblem({ status: _, errors, ...body }: JsonObject): Omit<Problem, 'status'> {
  const members = Object.entries(body).filter(
    ([name, value]) => value !== null && value !== '' && (!STRING_MEMBERS.includes(name) || typeof value === 'string'),
  );
  // If `errors` is not an object, its messages get an empty property name.
  const entries = Object.entries(isJsonObject(errors) ? errors : { '': errors ?? [] }).map(([property, value]) => {
    const messages = (Array.isArray(value) ? value : [value]).filter((each) => each !== null);
    return [property, messages.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))] as const;
  });
  const messagesByProperty = Object.fromEntries(entries.filter(([, each]) => each.length > 0));
  // Unlike an assignment, fromEntries treats `__proto__` as data.
  return Object.fromEntries([
    ...members,
    ...(errors === undefined || errors === null ? [] : [['errors', messagesByProperty] as const]),
  ]);
}

// Some services send an error with a 200 instead of the file (docs/service.md, section 8). If it were saved under the
// name of the file, every later run would skip it. Problem details with their own media type do not get here: client.ts
// refuses them.

/** A larger JSON body is the file, because only a small object can be an error message (docs/service.md, section 8). */
const MAX_TESTED_BYTES = 64 << 10;
/** A name with a folder may be HTML in spite of its extension: `xslF345X05/form4.xml` is `form4.xml`, rendered. */
const NEVER_HTML = /^[^/]*\.(?:pdf|zip|xlsx|xml|xsd|json|jpg|gif|png)$/i;
/** A small JSON object with one of these is an error (docs/service.md, section 8). */
const ERROR_MEMBERS = ['error', 'message'];
/** RFC 9457, section 3.1. A file may well have one of these members, so two are required. */
const PROBLEM_MEMBERS = ['type', 'title', 'status', 'detail'];

export function mediaTypeOf(headers: HeaderFields): string {
  return `${headers['content-type'] ?? ''}`.replace(/;.*/s, '').trim().toLowerCase();
}

export async function isErrorBody(response: HttpResponse, fileName: string): Promise<boolean> {
  const test = chooseErrorTest(fileName, mediaTypeOf(response.headers));
  return test?.(await peek(response, MAX_TESTED_BYTES)) ?? false;
}

/** The test takes the whole body, or more than MAX_TESTED_BYTES of it. Undefined if none could find an error. */
export function chooseErrorTest(fileName: string, type: string): ((start: Buffer) => boolean) | undefined {
  if (type === 'text/html' && NEVER_HTML.test(fileName)) return isHtml;
  // A `.json` file may itself have such members.
  return type === 'application/json' && !/\.json$/i.test(fileName) ? isErrorMessage : undefined;
}

function isHtml(start: Buffer): boolean {
  // `trimStart` also removes a byte-order mark.
  return /^<(?:!doctype html|html)/i.test(start.toString().trimStart());
}

function isErrorMessage(start: Buffer): boolean {
  const body = start.length > MAX_TESTED_BYTES ? undefined : parseJson(start.toString().replace(/^\ufeff/, ''));
  if (!isJsonObject(body)) return false;
  // Some services write `Error` or `Message`.
  const members = new Set(Object.keys(body).map((name) => name.toLowerCase()));
  const count = (names: readonly string[]) => names.filter((name) => members.has(name)).length;
  return count(ERROR_MEMBERS) >= 1 || count(PROBLEM_MEMBERS) >= 2;
}
