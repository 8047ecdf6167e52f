// Turns an error response into an error. The shape of its body depends on the server: RFC 9457's problem details, other
// JSON, HTML, XML or text. The content alone decides on the shape, because media types are often wrong. Texts stay as
// they came: whoever shows them redacts and shortens them.
import { STATUS_CODES } from 'node:http';
import { type ErrorCode, errorAbout, type FilingsError, type Problem, type Resource } from '../errors.ts';
import type { HeaderFields } from '../http/head.ts';
import { isRetriedStatus } from '../http/retry.ts';
import { isDeeper, isJsonObject, type JsonObject, parseJson } from '../json.ts';
import type { Secrets } from '../secrets.ts';
import { shellWord } from '../text.ts';

/** The parts of an error response that its error is made of. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers: HeaderFields;
  /** Without content coding. */
  readonly body: Buffer;
  /** Whether the body was not read to its end. */
  readonly isTruncated: boolean;
  readonly resource: Resource;
  /** The time of the next try, as in `FilingsErrorDetails`. */
  readonly retryAt?: number;
  readonly retryDue?: number;
  /** Replaces the hint for the status. */
  readonly hint?: string | undefined;
}

/**
 * Returns the error for a response. The HTTP status alone decides on the code, because the body's own `status` is
 * advisory (RFC 9457, section 3.1.2). The body gives the summary and the problem details.
 */
export function errorFromResponse(response: ErrorResponse, secrets: Secrets): FilingsError {
  const { status, headers, body, isTruncated, resource, retryAt, retryDue } = response;
  const code = codeOf(status);
  // The body of an unexpected success is content, and says nothing about the error.
  const isContent = status > 200 && status < 300 && !/json/i.test(String(headers['content-type']));
  const text = isContent ? '' : `${new TextDecoder().decode(body)}${isTruncated ? '…' : ''}`;
  const json = parseJson(text);
  const members = isJsonObject(json) && !isDeeper(json) ? json : undefined;
  const summary = members ? summaryFromJson(members) : summaryFromText(text.trim(), secrets);
  const challenge = headers['www-authenticate'];
  const line = summary
    ?.split(/[\r\n]+/)
    .map((each) => each.trim())
    .join(' ')
    .trim();
  const quote = line || (challenge && `it asks for ${challenge}`);
  const phrase = STATUS_CODES[status];
  const isPhrase = quote?.replace(/\.$/, '').toLowerCase() === phrase?.toLowerCase();
  const reason = phrase === undefined ? `${status}` : `${status} ${phrase}`;
  return errorAbout(
    resource,
    code,
    status === 200 ? `${reason}, but the body is an error` : status < 300 ? `unexpected response: ${reason}` : reason,
    {
      quote: quote && !isPhrase ? quote : undefined,
      hint: response.hint ?? hintFor(response, code),
      problem: { ...(members && problemFrom(members)), status },
      retryable: isRetriedStatus(status),
      // These are about every file. A 403 may be about one.
      stopsRun: status === 401 || status === 407,
      retryAt,
      retryDue,
    },
  );
}

/** Returns the error code for a status (docs/using.md and `filings --help`). */
function codeOf(status: number): ErrorCode {
  if (status === 401 || status === 403 || status === 407) return 'auth';
  if (status === 404 || status === 410) return 'not_found';
  if ([408, 425, 429].includes(status) || (status >= 500 && status <= 599)) return 'temporary';
  if (status >= 400 && status <= 499) return 'rejected';
  return 'integrity';
}

/** The hint for a 404 of a listing, with both possible causes. */
export const CHECK_NUMBER_AND_URL = 'check the accession number and the base URL';

function hintFor({ status, resource }: ErrorResponse, code: ErrorCode): string {
  if (status === 429) return 'wait, then run it again with fewer requests: --rate 1/s, --jobs 1';
  if (status === 407)
    return 'a proxy in between wants a password: set HTTPS_PROXY or HTTP_PROXY to http://USER:PASSWORD@HOST:PORT';
  if (code === 'auth')
    return 'the key may lack permission; if the service limits requests, wait, then run it again with --rate 1/s';
  if (code === 'temporary') return 'run it again later';
  if (code === 'integrity') return 'check the base URL';
  if (code === 'not_found' && resource.fileName === undefined) return CHECK_NUMBER_AND_URL;
  if (code === 'not_found' && /[*?]/.test(resource.fileName ?? ''))
    return `to choose files by a pattern: filings download ${resource.accession} --include ${shellWord(resource.fileName ?? '')}`;
  if (code === 'not_found')
    return `check the file name, the accession number and the base URL; to see the files: filings list ${resource.accession}`;
  return resource.fileName === undefined
    ? 'check the accession number'
    : 'check the accession number and the file name';
}

/** Returns the first text in `title`, `error` or `message`, or in an object there (`{"error":{"message"}}`). */
function summaryFromJson(body: JsonObject): string | undefined {
  for (const name of ['title', 'error', 'message']) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    if (typeof value === 'string' && value.trim() !== '') return value;
    const nested = isJsonObject(value) ? summaryFromJson(value) : undefined;
    if (nested !== undefined) return nested;
  }
  return undefined;
}

/** Returns the title or message of HTML or XML, or the first line of plain text. */
function summaryFromText(text: string, secrets: Secrets): string | undefined {
  if (!text.startsWith('<')) return text.split(/[\r\n]/, 1)[0];
  // A secret may contain `<`, and without its tags nobody would recognise it.
  return /<(?:title|message|h1)\b[^<>]*>\s*([^<\s][^<]*)/i.exec(secrets.redact(text))?.[1]?.replace(/\s+/g, ' ');
}

const STRING_MEMBERS = ['type', 'title', 'detail', 'instance'];

/**
 * Returns the members of problem details and their extensions. A member of the wrong type is ignored (RFC 9457, section
 * 3.1), and so is null. The body's `status` is ignored because the HTTP status counts.
 */
function problemFrom({ status: _, errors, ...body }: JsonObject): Omit<Problem, 'status'> {
  const members = Object.entries(body).filter(
    ([name, value]) =>
      value !== null && (!STRING_MEMBERS.includes(name) || (typeof value === 'string' && value !== '')),
  );
  const byProperty = Object.entries(isJsonObject(errors) ? errors : { '': errors ?? [] }).map(([property, value]) => {
    const messages = (Array.isArray(value) ? value : [value]).filter((each) => each !== null);
    return [property, messages.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))] as const;
  });
  const messages = Object.fromEntries(byProperty.filter(([, each]) => each.length > 0));
  // fromEntries makes own members, so that a member called `__proto__` stays data.
  return Object.fromEntries([
    ...members,
    ...(errors === undefined || errors === null ? [] : [['errors', messages] as const]),
  ]);
}
