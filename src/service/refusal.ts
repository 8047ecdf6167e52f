import { STATUS_CODES } from 'node:http';
import { type ErrorCode, errorAbout, type FilingsError, type Hint, type Resource } from '../errors.ts';
import type { HeaderFields } from '../http/head.ts';
import { proxyPasswordHint } from '../http/proxy.ts';
import { isRetriedStatus } from '../http/retry.ts';
import type { Secrets } from '../secrets.ts';
import { readErrorBody } from './error-body.ts';

export interface RefusedAnswer {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly body: Buffer;
  /** The body went on, or was not read to its end. */
  readonly truncated: boolean;
  readonly resource: Resource;
  /** See `FilingsErrorDetails`. */
  readonly retryAt?: number;
  readonly retryDue?: number;
  readonly hint?: Hint | undefined;
  readonly again: (command: string) => string;
}

/**
 * The HTTP status alone decides on the code (RFC 9457, section 3.1.2: the body's own `status` is advisory); the body is
 * read for whatever it can tell.
 */
export function errorFromAnswer(answer: RefusedAnswer, secrets: Secrets): FilingsError {
  const { status, headers, body, truncated, resource, retryAt, retryDue } = answer;
  const code = codeOf(status);
  // The body of a success that is refused is content, and tells nothing about the error.
  const isContent = status < 300 && !/json/i.test(String(headers['content-type']));
  const text = isContent ? '' : new TextDecoder().decode(body);
  const { said, problem, foreign } = readErrorBody(truncated ? `${text}…` : text, secrets);
  const challenge = headers['www-authenticate'];
  const why = said ?? (challenge && `it asks for ${challenge}`);
  const phrase = STATUS_CODES[status];
  const statusText = phrase === undefined ? `${status}` : `${status} ${phrase}`;
  const repeatsPhrase = why?.replace(/\.$/, '').toLowerCase() === phrase?.toLowerCase();
  return errorAbout(resource, code, status < 300 ? `${statusText} is not the answer that was asked for` : statusText, {
    quote: why && !repeatsPhrase ? why : undefined,
    hint: answer.hint ?? hintFor(answer, code),
    problem: { ...problem, status },
    retryable: isRetriedStatus(status),
    // Wrong for every file; a 403 may be about one.
    stopsRun: status === 401 || status === 407,
    fault: foreign ? 'foreign' : undefined,
    retryAt,
    retryDue,
  });
}

/** The code of an error response, from its status (docs/using.md and `filings help exit-codes`). */
function codeOf(status: number): ErrorCode {
  if (status === 401 || status === 403 || status === 407) return 'auth';
  if (status === 404 || status === 410) return 'not_found';
  if ([408, 425, 429].includes(status) || (status >= 500 && status <= 599)) return 'temporary';
  if (status >= 400 && status <= 499) return 'rejected';
  return 'integrity';
}

/** Both possible causes of a 404. */
export const CHECK_NUMBER_AND_URL = 'check the accession number and the base URL';

function hintFor({ status, resource, again }: RefusedAnswer, code: ErrorCode): Hint {
  if (status === 429) return { advice: 'fewer-requests' };
  if (status === 407) return proxyPasswordHint('HTTP_PROXY');
  if (code === 'auth') return { advice: 'forbidden' };
  if (code === 'temporary') return 'run it again later';
  if (code === 'integrity') return 'check the base URL';
  if (code === 'not_found' && resource.fileName === undefined) return CHECK_NUMBER_AND_URL;
  if (code === 'not_found') {
    const list = again(`filings list ${resource.accession}`);
    return `check the file name, the accession number and the base URL; to see the files: ${list}`;
  }
  return resource.fileName === undefined
    ? 'check the accession number'
    : 'check the accession number and the file name';
}
