/** The one table of exit statuses; `interrupted` adds the number of the signal to its own. */
const EXITS = [
  [1, ['internal'], 'a defect in the program'],
  [2, ['usage', 'config'], 'the command line or the configuration is wrong'],
  [3, ['partial'], 'a batch ended, and at least one file failed permanently'],
  [4, ['auth'], 'no key, 401, 403, 407, a bad or expired JWT'],
  [5, ['not_found'], '404, 410, nothing matched'],
  [6, ['rejected'], 'another 4xx, a validation problem among them'],
  [7, ['temporary'], 'network, TLS, timeout, deadline, 408, 425, 429, 5xx: run it again later'],
  [8, ['local_io'], 'disk full, no permission, cannot write stdout, a different file already exists'],
  [9, ['integrity'], 'truncated, wrong hash, changed while resuming, an answer that is not what the contract says'],
  [10, ['limit'], 'a limit (--max-bytes, --max-requests, --stop-after) ended the batch, and nothing failed'],
  [128, ['interrupted'], 'ended by signal n; 141: the reader of `download -o -` went away'],
] as const;

/** What can go wrong, as the words a script may match on. */
export type ErrorCode = (typeof EXITS)[number][1][number];

/** What `filings help exit-codes` prints: exit status, codes, meaning. */
export const EXIT_CODE_ROWS: readonly (readonly [exit: string, codes: string, meaning: string])[] = [
  ['0', '', 'done, also when all was skipped'],
  ...EXITS.map(
    ([status, codes, meaning]) => [`${status}${status === 128 ? '+n' : ''}`, codes.join(', '), meaning] as const,
  ),
];

/** The service's problem details (service.md, section 2; RFC 9457), as far as they could be read. */
export interface Problem {
  readonly type?: string;
  readonly title?: string;
  /** The HTTP status of the answer, never the body's own claim. */
  readonly status: number;
  readonly detail?: string;
  readonly instance?: string;
  readonly errors?: Readonly<Record<string, readonly string[]>>;
  /** Further members, as they came. */
  readonly [extension: string]: unknown;
}

/**
 * Tells errors of one code apart. `unproved-end`: the body looks complete, but its end is unconfirmed, and a hash may
 * still prove it. `foreign`: the answer is neither JSON nor problem details, so that it is probably not the service's.
 */
export type Fault = 'certificate' | 'unresolved-name' | 'unproved-end' | 'foreign';

/** What of the service was asked for: a file of a filing, or without a name the filing's listing. */
export interface Subject {
  readonly accession: string;
  readonly fileName?: string;
}

export interface FilingsErrorDetails {
  /** What to do next, in one sentence. */
  readonly hint?: string | undefined;
  readonly problem?: Problem | undefined;
  /** When it may be tried again, in milliseconds since the epoch. */
  readonly retryAt?: number | undefined;
  /** The same by a clock that never steps: milliseconds, of which only differences mean something. */
  readonly retryDue?: number | undefined;
  /** The signal's number, for `interrupted`. */
  readonly signal?: number | undefined;
  /** Whether another try may go better. */
  readonly retryable?: boolean;
  /** False when not even a connection could be made. */
  readonly connected?: boolean;
  readonly fault?: Fault | undefined;
  /** What was asked for, where it was that which failed; `errorAbout` puts it in front of the message, too. */
  readonly subject?: Subject | undefined;
  readonly cause?: unknown;
  /** It would fail every other file of a batch too; a wrong configuration does, unless this says otherwise. */
  readonly stopsRun?: boolean;
  /** The deadline or a signal has ended the run: nothing is waited for any more. */
  readonly isTimeUp?: boolean;
}

/**
 * The one error class. `message` reads `WHAT: WHY`, without the program's name;
 * foreign text in it is made printable by the renderer, not here.
 */
export class FilingsError extends Error implements FilingsErrorDetails {
  override readonly name = 'FilingsError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly problem: Problem | undefined;
  readonly retryAt: number | undefined;
  readonly retryDue: number | undefined;
  readonly signal: number | undefined;
  readonly retryable: boolean;
  readonly connected: boolean;
  readonly fault: Fault | undefined;
  readonly subject: Subject | undefined;
  readonly stopsRun: boolean;
  readonly isTimeUp: boolean;

  constructor(code: ErrorCode, message: string, details: FilingsErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
    this.problem = details.problem;
    this.retryAt = details.retryAt;
    this.retryDue = details.retryDue;
    this.signal = details.signal;
    this.retryable = details.retryable ?? false;
    this.connected = details.connected ?? true;
    this.fault = details.fault;
    this.subject = details.subject;
    this.stopsRun = details.stopsRun ?? code === 'config';
    this.isTimeUp = details.isTimeUp ?? false;
  }

  get exitStatus(): number {
    const [status] = EXITS.find(([, codes]) => (codes as readonly ErrorCode[]).includes(this.code)) ?? EXITS[0];
    return status + (this.signal ?? 0);
  }

  /** The same error said otherwise; what `changes` does not name stays. */
  reworded(message: string, changes: FilingsErrorDetails & { readonly code?: ErrorCode } = {}): FilingsError {
    return new FilingsError(changes.code ?? this.code, message, { ...this, cause: this.cause ?? this, ...changes });
  }
}

/** An error about what was asked for: it has that as data, and its message begins with it. */
export function errorAbout(
  subject: Subject,
  code: ErrorCode,
  why: string,
  details: FilingsErrorDetails = {},
): FilingsError {
  return new FilingsError(code, `${wordsOf(subject)}: ${why}`, { ...details, subject });
}

/** An error of the network or of an answer says what was asked for; any other stays. */
export function about(subject: Subject, error: unknown): unknown {
  if (!(error instanceof FilingsError) || error.subject) return error;
  if (error.code !== 'temporary' && error.code !== 'integrity') return error;
  return error.reworded(`${wordsOf(subject)}: ${error.message}`, { subject });
}

/** An error's message without what was asked for in front: for where that stands already. */
export function reasonOf({ subject, message }: FilingsError): string {
  const front = subject ? `${wordsOf(subject)}: ` : '';
  return message.startsWith(front) ? message.slice(front.length) : message;
}

/** The only place that words it. */
function wordsOf({ accession, fileName }: Subject): string {
  return fileName === undefined ? `the listing of ${accession}` : `${fileName} of ${accession}`;
}

/** The errno name of a system error (`ENOSPC`), or undefined. */
export function errnoOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}
