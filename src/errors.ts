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

/** A resource of the service: a file of a filing, or without a name the filing's listing. */
export interface Resource {
  readonly accession: string;
  readonly fileName?: string;
}

/** What an error is about: any of these, as a person would write them. `messageOf` puts them in front of the reason. */
export interface Subject {
  /** The number of a line of the input. */
  readonly line?: number | undefined;
  /** An option, a setting, a command or another thing with a name. With a path, the name of what is there. */
  readonly name?: string | undefined;
  readonly path?: string | undefined;
  readonly resource?: Resource | undefined;
  /** The host that was asked, with its port. */
  readonly host?: string | undefined;
  /** The proxy that was to lead to the host. */
  readonly proxy?: string | undefined;
  /** The host whose redirect led to `host`. */
  readonly redirectedFrom?: string | undefined;
}

/** The parts of an error that its message is made of. */
export interface MessageParts {
  readonly subject?: Subject | undefined;
  /** Why it failed. */
  readonly reason: string;
  /** The service's own words about it. */
  readonly quote?: string | undefined;
  /** How many tries there were, if there was more than one. */
  readonly tries?: number | undefined;
  /** The wait that the service asks for and that is too long, in milliseconds. */
  readonly askedWaitMs?: number | undefined;
  /** What else a person has to know of the run. */
  readonly remarks?: readonly string[] | undefined;
  /** The error that followed, at the end of a run. */
  readonly followedBy?: MessageParts | undefined;
}

/**
 * Advice that names options. A floor that knows no options gives only its key, and `session/hints.ts` has the words.
 */
export type Advice =
  | {
      readonly advice:
        | 'allow-connecting'
        | 'allow-idling'
        | 'check-hash'
        | 'claim-options'
        | 'fewer-jobs'
        | 'fewer-requests'
        | 'forbidden'
        | 'keep-or-replace'
        | 'key-in-header'
        | 'layout-by-filing'
        | 'other-directory'
        | 'other-name'
        | 'other-place'
        | 'other-place-or-replace'
        | 'passphrase-file'
        | 'prove-by-hash'
        | 'read-pages'
        | 'report-defect'
        | 'secret-file'
        | 'spool';
    }
  /** The service rejects the key of this source. The command checks the settings. */
  | { readonly advice: 'check-key'; readonly source: string; readonly command?: string | undefined }
  /** The service asks for a longer wait than the user allows. */
  | { readonly advice: 'wait'; readonly longestMs: number; readonly isRateLimited: boolean };

/** What to do next, in one sentence. */
export type Hint = string | Advice;

export interface FilingsErrorDetails extends Omit<MessageParts, 'reason'> {
  readonly hint?: Hint | undefined;
  /** The command that retries the failed files of the run. */
  readonly retryCommand?: string | undefined;
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
  readonly cause?: unknown;
  /** It would fail every other file of a batch too; a wrong configuration does, unless this says otherwise. */
  readonly stopsRun?: boolean;
  /** The deadline or a signal has ended the run: nothing is waited for any more. */
  readonly isTimeUp?: boolean;
}

/**
 * Returns the sentence for a person that the parts of an error make: `WHAT: WHY`, without the program's name. This is the
 * only place where it is worded.
 */
export function messageOf({
  subject,
  reason,
  quote,
  tries,
  askedWaitMs,
  remarks = [],
  followedBy,
}: MessageParts): string {
  const what = subject ? namesOf(subject) : [];
  const wait = askedWaitMs === undefined ? [] : [`the service asks to wait ${Math.ceil(askedWaitMs / 1000)} s`];
  const why = [...what, reason, ...(quote === undefined ? [] : [quote]), ...wait].join(': ');
  const more = [
    ...(tries === undefined ? [] : [`${tries} tries`]),
    ...remarks,
    ...(followedBy === undefined ? [] : [`then ${messageOf(followedBy)}`]),
  ];
  return [why, ...more].join('; ');
}

/** Names the parts of a subject, from the outermost to the one nearest to the reason. */
function namesOf({ line, name, path, resource, host, proxy, redirectedFrom }: Subject): readonly string[] {
  const redirect = redirectedFrom === undefined ? '' : `${redirectedFrom} redirects to `;
  const through = proxy === undefined ? '' : ` through the proxy ${proxy}`;
  const thing = [name, path].filter((part) => part !== undefined).join(' ');
  return [
    ...(line === undefined ? [] : [`line ${line}`]),
    ...(thing === '' ? [] : [thing]),
    ...(resource === undefined ? [] : [wordsOf(resource)]),
    ...(host === undefined ? [] : [`${redirect}${host}${through}`]),
  ];
}

function wordsOf({ accession, fileName }: Resource): string {
  return fileName === undefined ? `the listing of ${accession}` : `${fileName} of ${accession}`;
}

/** What a copy of an error has differently. Parts of the subject that are not named stay. */
type FilingsErrorChanges = FilingsErrorDetails & { readonly code?: ErrorCode };

/**
 * The one error class. An error is data: its code, its subject, its reason and more. `message` is the sentence that
 * `messageOf` makes of them whenever it is read; the renderer makes foreign text in it printable.
 */
export class FilingsError extends Error implements FilingsErrorDetails, MessageParts {
  override readonly name = 'FilingsError';
  readonly code: ErrorCode;
  readonly subject: Subject | undefined;
  readonly reason: string;
  readonly quote: string | undefined;
  readonly tries: number | undefined;
  readonly askedWaitMs: number | undefined;
  readonly remarks: readonly string[] | undefined;
  readonly followedBy: MessageParts | undefined;
  readonly hint: Hint | undefined;
  readonly retryCommand: string | undefined;
  readonly problem: Problem | undefined;
  readonly retryAt: number | undefined;
  readonly retryDue: number | undefined;
  readonly signal: number | undefined;
  readonly retryable: boolean;
  readonly connected: boolean;
  readonly fault: Fault | undefined;
  readonly stopsRun: boolean;
  readonly isTimeUp: boolean;

  constructor(code: ErrorCode, reason: string, details: FilingsErrorDetails = {}) {
    super(undefined, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.subject = details.subject;
    this.reason = reason;
    this.quote = details.quote;
    this.tries = details.tries;
    this.askedWaitMs = details.askedWaitMs;
    this.remarks = details.remarks;
    this.followedBy = details.followedBy;
    this.hint = details.hint;
    this.retryCommand = details.retryCommand;
    this.problem = details.problem;
    this.retryAt = details.retryAt;
    this.retryDue = details.retryDue;
    this.signal = details.signal;
    this.retryable = details.retryable ?? false;
    this.connected = details.connected ?? true;
    this.fault = details.fault;
    this.stopsRun = details.stopsRun ?? code === 'config';
    this.isTimeUp = details.isTimeUp ?? false;
  }

  override get message(): string {
    return messageOf(this);
  }

  get exitStatus(): number {
    const [status] = EXITS.find(([, codes]) => (codes as readonly ErrorCode[]).includes(this.code)) ?? EXITS[0];
    return status + (this.signal ?? 0);
  }

  /** Returns a copy with some changes. It has the same cause. */
  with(changes: FilingsErrorChanges): FilingsError {
    const { code = this.code, subject } = changes;
    const details = { ...this, cause: this.cause, ...changes, subject: { ...this.subject, ...subject } };
    return new FilingsError(code, this.reason, details);
  }
}

/** An error about a resource of the service. */
export function errorAbout(
  resource: Resource,
  code: ErrorCode,
  reason: string,
  details: FilingsErrorDetails = {},
): FilingsError {
  return new FilingsError(code, reason, { ...details, subject: { resource } });
}

/** Returns an error of the network or of an answer with what was asked for; any other as it is. */
export function about(resource: Resource, error: unknown): unknown {
  if (!(error instanceof FilingsError) || error.subject?.resource) return error;
  if (error.code !== 'temporary' && error.code !== 'integrity') return error;
  return error.with({ subject: { resource } });
}

/** Returns the error as output shows it that shows the resource already. */
export function withoutResource(error: FilingsError): FilingsError {
  return error.with({ subject: { resource: undefined } });
}

/** The errno name of a system error (`ENOSPC`), or undefined. */
export function errnoOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}
