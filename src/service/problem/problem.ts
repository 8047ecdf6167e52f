import { STATUS_CODES } from 'node:http';
import { type ErrorCode, errorAbout, type FilingsError, type Subject } from '../../errors.ts';
import type { Secrets } from '../../secrets.ts';
import { shellWord } from '../../text.ts';
import { readErrorBody } from './body.ts';

/** An answer that is not the one wanted, as it was received. */
export interface UnwelcomeAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** At most 1 MiB of it. */
  readonly body: Buffer;
  /** The body went on after that, or was not read to its end. */
  readonly truncated?: boolean;
  /** What was asked for. */
  readonly subject: Subject;
  /** Whether another try may go better. */
  readonly retryable?: boolean;
  /** When the service said that it may be tried again, in milliseconds since the epoch. */
  readonly retryAt?: number;
  /** The same by a clock that never steps. */
  readonly retryDue?: number;
  /** Known better than what the status alone tells. */
  readonly hint?: string;
  /** A command of this program as this run would give it. */
  readonly again?: (command: string) => string;
}

/**
 * The error for an answer that is no file and no listing. The HTTP status alone decides
 * on the code (RFC 9457, section 3.1.2: the body's own `status` is advisory); the body
 * is read for whatever it can tell, in whichever shape it came, and is clear of `secrets`. Throws nothing.
 */
export function errorFromAnswer(answer: UnwelcomeAnswer, secrets: Secrets): FilingsError {
  const { status, subject, retryAt, retryDue, retryable = false } = answer;
  const code = codeOf(status);
  const { said, problem, foreign } = readErrorBody(
    isContent(answer) ? { ...answer, body: Buffer.alloc(0) } : answer,
    secrets,
  );
  const phrase = STATUS_CODES[status];
  const shown = phrase === undefined ? `${status}` : `${status} ${phrase}`;
  const parts = [status < 300 ? `${shown} is not the answer that was asked for` : shown];
  if (said !== undefined && plain(said) !== plain(phrase ?? '')) parts.push(said);
  return errorAbout(subject, code, parts.join(': '), {
    hint: repeated(answer.hint ?? hintFor(status, code, subject, said ?? ''), answer.again),
    problem: { ...problem, status },
    retryable,
    // A wrong key is wrong for every file, and so is a proxy that refuses; a 403 may be about one.
    stopsRun: status === 401 || status === 407,
    ...(foreign && { fault: 'foreign' as const }),
    ...(retryAt !== undefined && { retryAt }),
    ...(retryDue !== undefined && { retryDue }),
  });
}

/** A success that is refused for another reason: its body is content, and tells nothing about the error. */
function isContent({ status, headers }: UnwelcomeAnswer): boolean {
  return status < 300 && !/json/i.test(String(headers['content-type'] ?? ''));
}

/** The interface's table of exit codes, by HTTP status. */
function codeOf(status: number): ErrorCode {
  if (status === 401 || status === 403) return 'auth';
  if (status === 404 || status === 410) return 'not_found';
  if (status === 408 || status === 425 || status === 429) return 'temporary';
  if (status >= 500 && status <= 599) return 'temporary';
  if (status >= 400 && status <= 499) return 'rejected';
  return 'integrity';
}

const HINTS: Readonly<Record<number, string>> = {
  403: 'the key may not be allowed this; some archives answer so for a name that does not exist, too',
  407: 'the proxy wants credentials: check HTTPS_PROXY and HTTP_PROXY',
  429: 'wait, then run it again with fewer requests: --rate 1/s, --jobs 1',
};
const HINTS_BY_CODE: Readonly<Partial<Record<ErrorCode, string>>> = {
  auth: 'check the API key: filings config check',
  not_found: 'check the accession number, and the base URL: filings config list',
  rejected: 'check the accession number and the name against what the service says',
  temporary: 'run it again later',
  integrity: 'is the base URL the right one? See: filings config list',
};

function hintFor(status: number, code: ErrorCode, { accession, fileName }: Subject, said: string): string {
  if (status === 403 && /\brate\b|too many|threshold/i.test(said)) return HINTS[429] ?? '';
  if (code === 'not_found' && fileName !== undefined && /[*?]|\[.+\]|\{.*,.*\}/.test(fileName)) {
    return `a pattern chooses with --include: filings download ${accession} --include ${shellWord(fileName)}`;
  }
  if (code === 'not_found' && fileName !== undefined) return `see which files there are: filings list ${accession}`;
  return HINTS[status] ?? HINTS_BY_CODE[code] ?? '';
}

/** The commands of the hints above. */
const COMMAND = /filings (?:list [\d-]+|download [\d-]+ --include (?:[^\s']+|(?:'[^']*'|\\')+)|config (?:check|list))/;

/** A hint whose command asks the same service as this run did. */
export function repeated(hint: string, again: UnwelcomeAnswer['again']): string {
  return again ? hint.replace(COMMAND, (command) => again(command)) : hint;
}

/** For telling whether two phrases say the same. */
function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}
