import { STATUS_CODES } from 'node:http';
import { type ErrorCode, errorAbout, type FilingsError, type Hint, type Resource } from '../errors.ts';
import type { HeaderFields } from '../http/head.ts';
import { proxyPasswordHint } from '../http/proxy.ts';
import { isRetriedStatus } from '../http/retry.ts';
import type { Secrets } from '../secrets.ts';
import { readErrorBody } from './error-body.ts';

/** The parts of an error response that its error is made of. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly body: Buffer;
  /** Whether the body was not read to its end. */
  readonly isTruncated: boolean;
  readonly resource: Resource;
  /** The time of the next try, as in `FilingsErrorDetails`. */
  readonly retryAt?: number;
  readonly retryDue?: number;
  /** Replaces the hint for the status. */
  readonly hint?: Hint | undefined;
  /** Returns the command with the options that make it use the same service. */
  readonly hintCommand: (command: string) => string;
}

/**
 * Returns the error for a response. The HTTP status alone decides on the code, because the body's own `status` is
 * advisory (RFC 9457, section 3.1.2). The body gives the summary and the problem details.
 */
export function errorFromResponse(response: ErrorResponse, secrets: Secrets): FilingsError {
  const { status, headers, body, isTruncated, resource, retryAt, retryDue } = response;
  const code = codeOf(status);
  // The body of an unexpected success is content, and says nothing about the error.
  const isContent = status < 300 && !/json/i.test(String(headers['content-type']));
  const text = isContent ? '' : new TextDecoder().decode(body);
  const { summary, problem, isForeign } = readErrorBody(isTruncated ? `${text}…` : text, secrets);
  const challenge = headers['www-authenticate'];
  const quote = summary ?? (challenge && `it asks for ${challenge}`);
  const phrase = STATUS_CODES[status];
  const statusText = phrase === undefined ? `${status}` : `${status} ${phrase}`;
  const isPhrase = quote?.replace(/\.$/, '').toLowerCase() === phrase?.toLowerCase();
  return errorAbout(resource, code, status < 300 ? `${statusText} is not the answer that was asked for` : statusText, {
    quote: quote && !isPhrase ? quote : undefined,
    hint: response.hint ?? hintFor(response, code),
    problem: { ...problem, status },
    retryable: isRetriedStatus(status),
    // These are about every file. A 403 may be about one.
    stopsRun: status === 401 || status === 407,
    fault: isForeign ? 'foreign' : undefined,
    retryAt,
    retryDue,
  });
}

/** Returns the error code for a status (docs/using.md and `filings help exit-codes`). */
function codeOf(status: number): ErrorCode {
  if (status === 401 || status === 403 || status === 407) return 'auth';
  if (status === 404 || status === 410) return 'not_found';
  if ([408, 425, 429].includes(status) || (status >= 500 && status <= 599)) return 'temporary';
  if (status >= 400 && status <= 499) return 'rejected';
  return 'integrity';
}

/** The hint for a 404 of a listing, with both possible causes. */
export const CHECK_NUMBER_AND_URL = 'check the accession number and the base URL';

function hintFor({ status, resource, hintCommand }: ErrorResponse, code: ErrorCode): Hint {
  if (status === 429) return { advice: 'fewer-requests' };
  if (status === 407) return proxyPasswordHint('HTTP_PROXY');
  if (code === 'auth') return { advice: 'forbidden' };
  if (code === 'temporary') return 'run it again later';
  if (code === 'integrity') return 'check the base URL';
  if (code === 'not_found' && resource.fileName === undefined) return CHECK_NUMBER_AND_URL;
  if (code === 'not_found') {
    const list = hintCommand(`filings list ${resource.accession}`);
    return `check the file name, the accession number and the base URL; to see the files: ${list}`;
  }
  return resource.fileName === undefined
    ? 'check the accession number'
    : 'check the accession number and the file name';
}
