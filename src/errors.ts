// The error class of the program, with its codes and exit statuses. An error is data: `messageOf` makes its message, in
// which text from elsewhere is marked, and whoever prints the message redacts and shortens that text.

import { markForeign, removeMarks } from './secrets.ts';

/** The table of exit statuses. `interrupted` adds the number of the signal to 128. */
const EXITS = [
  [1, ['internal'], 'a defect in the program'],
  [2, ['usage', 'config'], 'the command line or the configuration is wrong'],
  [3, ['partial'], 'a batch ended, and at least one file failed permanently'],
  [4, ['auth'], 'no key, 401, 403, 407, a bad or expired JWT'],
  [5, ['not_found'], '404, 410, nothing matched'],
  [6, ['rejected'], 'another 4xx, including a validation problem'],
  [7, ['temporary'], 'network, TLS, timeout, deadline, 408, 425, 429, 5xx: running it again later is enough'],
  [8, ['local_io'], 'disk full, no permission, cannot write stdout, a different file already exists'],
  [9, ['integrity'], 'truncated, wrong hash, changed while resuming, a response that does not follow the contract'],
  [10, ['limit'], 'a limit (--max-bytes, --max-requests, --stop-after) ended the batch, and nothing failed'],
  [128, ['interrupted'], 'ended by signal n; 141: the reader of `download -o -` closed the pipe'],
] as const;

/** The kinds of errors. Scripts may match on these words. */
export type ErrorCode = (typeof EXITS)[number][1][number];

/** The rows that `filings --help` prints. */
export const EXIT_CODE_ROWS: readonly (readonly [exit: string, codes: string, meaning: string])[] = [
  ['0', '', 'done, also if all files were skipped'],
  ...EXITS.map(
    ([status, codes, meaning]) => [`${status}${status === 128 ? '+n' : ''}`, codes.join(', '), meaning] as const,
  ),
];

/** The service's problem details (service.md, section 2; RFC 9457), as far as they could be read. */
export interface Problem {
  readonly type?: string;
  readonly title?: string;
  /** The HTTP status of the response, never the `status` member of its body. */
  readonly status: number;
  readonly detail?: string;
  readonly instance?: string;
  readonly errors?: Readonly<Record<string, readonly string[]>>;
  /** Other members, unchanged. */
  readonly [extension: string]: unknown;
}

/**
 * Tells errors of one code apart. `unproved-end`: the body looks complete, but its end is unconfirmed, and a hash may
 * still prove it.
 */
export type Fault = 'unresolved-name' | 'unproved-end';

/** A resource of the service: a file of a filing, or without a name the filing's listing. */
export interface Resource {
  readonly accession: string;
  readonly fileName?: string;
}

/** The subject of an error, in the user's words. `messageOf` puts its parts before the reason. */
export interface Subject {
  /** The number of a line of the input. */
  readonly line?: number | undefined;
  /** An option, a setting, a command or another thing with a name. Beside a path, the word that describes the file. */
  readonly name?: string | undefined;
  readonly path?: string | undefined;
  readonly resource?: Resource | undefined;
  /** The host of the request, with its port. */
  readonly host?: string | undefined;
  /** The proxy of the request. */
  readonly proxy?: string | undefined;
  /** The host that redirected to `host`. */
  readonly redirectedFrom?: string | undefined;
}

/** The parts of an error that its message is made of. */
export interface MessageParts {
  readonly subject?: Subject | undefined;
  /** What went wrong, in the program's own words. Text from elsewhere in it is marked by `markForeign`. */
  readonly reason: string;
  /** The words of the service, of a proxy or of the system about the error, as they came. */
  readonly quote?: string | undefined;
  /** The number of tries, if there was more than one. */
  readonly tries?: number | undefined;
  /** A wait that the service asks for and that is too long, in milliseconds. */
  readonly serviceWaitMs?: number | undefined;
  /** Other facts about the run. */
  readonly remarks?: readonly string[] | undefined;
}

export interface FilingsErrorDetails extends Omit<MessageParts, 'reason'> {
  /** What to do next, in one sentence, in which text from elsewhere is marked by `markForeign`. */
  readonly hint?: string | undefined;
  readonly problem?: Problem | undefined;
  /** The earliest time for a retry, in milliseconds since the epoch. */
  readonly retryAt?: number | undefined;
  /** `retryAt` on the monotonic clock, in milliseconds. */
  readonly retryDue?: number | undefined;
  /** The signal's number, for `interrupted`. */
  readonly signal?: number | undefined;
  /** Whether a retry may succeed. */
  readonly retryable?: boolean;
  /** False if no connection could be made. */
  readonly connected?: boolean;
  readonly fault?: Fault | undefined;
  readonly cause?: unknown;
  /** Whether the error would fail every other file of a batch, too. Default: true for the code `config`. */
  readonly stopsRun?: boolean;
  /** Whether the deadline or a signal has ended the run, so that only a short final output is allowed. */
  readonly isTimeUp?: boolean;
}

/**
 * Returns the message of an error as `SUBJECT: REASON`, without the program's name, and with text from elsewhere marked.
 * All messages are made here, so that no code has to search or edit a message.
 */
export function messageOf({ subject, reason, quote, tries, serviceWaitMs, remarks = [] }: MessageParts): string {
  const names = subject ? namesOf(subject) : [];
  const wait = serviceWaitMs === undefined ? [] : [`the service asks to wait ${Math.ceil(serviceWaitMs / 1000)} s`];
  const sentence = [...names, reason, ...(quote === undefined ? [] : [markForeign(quote)]), ...wait].join(': ');
  return [sentence, ...(tries === undefined ? [] : [`${tries} tries`]), ...remarks].join('; ');
}

/** Returns the parts of a subject from the outermost to the innermost, which is closest to the reason. */
function namesOf({ line, name, path, resource, host, proxy, redirectedFrom }: Subject): readonly string[] {
  const redirect = redirectedFrom === undefined ? '' : `${redirectedFrom} redirects to `;
  const through = proxy === undefined ? '' : ` through the proxy ${proxy}`;
  const subjectText = [name, path].filter((part) => part !== undefined).join(' ');
  return [
    ...(line === undefined ? [] : [`line ${line}`]),
    ...(subjectText === '' ? [] : [subjectText]),
    ...(resource === undefined ? [] : [wordsOf(resource)]),
    ...(host === undefined ? [] : [`${redirect}${host}${through}`]),
  ];
}

function wordsOf({ accession, fileName }: Resource): string {
  return fileName === undefined ? `the listing of ${accession}` : `${fileName} of ${accession}`;
}

/** The changes of a copy. Parts of the subject that are not named stay. */
type FilingsErrorChanges = FilingsErrorDetails & { readonly code?: ErrorCode };

export interface FilingsError extends Omit<FilingsErrorDetails, 'cause'> {}

/**
 * An error of any kind, as data, of which `messageOf` makes the message.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor assigns all details
export class FilingsError extends Error implements MessageParts {
  override readonly name = 'FilingsError';
  readonly code: ErrorCode;
  readonly reason: string;

  constructor(code: ErrorCode, reason: string, details: FilingsErrorDetails = {}) {
    super(undefined, { cause: details.cause });
    this.code = code;
    this.reason = reason;
    Object.assign(
      this,
      { hint: undefined, retryable: false, connected: true, stopsRun: code === 'config', isTimeUp: false },
      details,
    );
  }

  /** The message with all secrets that the service may have echoed. Whatever is printed is made by `messageOf`. */
  override get message(): string {
    return removeMarks(messageOf(this));
  }

  /** The exit status of a run that ends with this error. */
  get exitStatus(): number {
    const [status] = EXITS.find(([, codes]) => (codes as readonly ErrorCode[]).includes(this.code)) ?? EXITS[0];
    return status + (this.signal ?? 0);
  }

  /** Returns a changed copy with the same cause. */
  with(changes: FilingsErrorChanges): FilingsError {
    const { code = this.code, subject } = changes;
    return new FilingsError(code, this.reason, {
      ...this,
      cause: this.cause,
      ...changes,
      subject: { ...this.subject, ...subject },
    });
  }
}

/** Returns an error whose subject is a resource of the service. */
export function errorAbout(
  resource: Resource,
  code: ErrorCode,
  reason: string,
  details: FilingsErrorDetails = {},
): FilingsError {
  return new FilingsError(code, reason, { ...details, subject: { resource } });
}

/** Returns an error of the network or of a response with the resource added, and any other error unchanged. */
export function withResource(resource: Resource, error: unknown): unknown {
  if (!(error instanceof FilingsError) || error.subject?.resource) return error;
  if (error.code !== 'temporary' && error.code !== 'integrity') return error;
  return error.with({ subject: { resource } });
}

/** Returns the error without its resource, for output that already shows the resource. */
export function withoutResource(error: FilingsError): FilingsError {
  return error.with({ subject: { resource: undefined } });
}

/** Returns the errno name of a system error, such as `ENOSPC`, or undefined. */
export function errnoOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}
