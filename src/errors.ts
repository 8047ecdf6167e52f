// An error holds data instead of a finished message. `messageOf` makes the message and marks the text in it that comes
// from elsewhere, because only that text is redacted when the message is printed.
import { markForRedaction, removeMarks } from './secrets.ts';
import { shortened } from './text.ts';

/** Exit statuses, the codes that have them, and what they mean. `interrupted` adds the number of the signal to 128. */
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
  [128, ['interrupted'], 'ended by signal n; 141: the reader of -o -, --report - or verify closed the pipe'],
] as const;

/** Scripts match on these words, so they never change. */
export type ErrorCode = (typeof EXITS)[number][1][number];

export const EXIT_STATUSES: readonly (readonly [status: string, meaning: string])[] = [
  ['0', 'done, even if all files were skipped'],
  ...EXITS.map(
    ([status, codes, meaning]) =>
      [`${status}${status === 128 ? '+n' : ''}`, `${codes.join(', ')}: ${meaning}`] as const,
  ),
];

/** The problem details that the service sent (docs/service.md, section 2; RFC 9457), as far as they could be read. */
export interface Problem {
  readonly type?: string;
  readonly title?: string;
  /** The HTTP status of the response. The `status` member of the body is only advisory (RFC 9457, section 3.1.2). */
  readonly status: number;
  /** FastAPI sends a list or an object. */
  readonly detail?: unknown;
  readonly instance?: string;
  readonly errors?: Readonly<Record<string, readonly string[]>>;
  readonly [extension: string]: unknown;
}

/** A file of a filing. Without `fileName`, the listing of the filing. */
export interface Resource {
  readonly accession: string;
  readonly fileName?: string;
}

export interface Subject {
  readonly line?: number | undefined;
  /** The name of an option, a setting or a command. With `path`, a word for the file, such as `key`. */
  readonly name?: string | undefined;
  readonly path?: string | undefined;
  readonly resource?: Resource | undefined;
  /** The host of the request, with its port. */
  readonly host?: string | undefined;
  readonly proxy?: string | undefined;
  readonly redirectedFrom?: string | undefined;
}

export interface MessageParts {
  readonly subject?: Subject | undefined;
  /** What went wrong, in the program's own words. Any text from elsewhere in it is marked (`markForRedaction`). */
  readonly reason: string;
  /** What the service, a proxy or the system said about the error, unchanged. */
  readonly quote?: string | undefined;
  /** Set if there was more than one try. */
  readonly tries?: number | undefined;
  /** How long the service asks to wait, in milliseconds. Set only if that is longer than --max-retry-after. */
  readonly serviceWaitMs?: number | undefined;
  readonly remarks?: readonly string[] | undefined;
}

/** The checks of a token, in the order in which they run. */
export type TokenCheck = 'format' | 'header' | 'key' | 'signature' | 'claims';

export interface FilingsErrorDetails extends Omit<MessageParts, 'reason'> {
  /** What to do next, in one sentence. Any text from elsewhere in it is marked (`markForRedaction`). */
  readonly hint?: string | undefined;
  readonly problem?: Problem | undefined;
  /** The earliest time for a retry, in milliseconds since the epoch. */
  readonly retryAt?: number | undefined;
  /** The signal's number, for `interrupted`. */
  readonly signal?: number | undefined;
  readonly retryable?: boolean;
  /** Whether the service could not be reached. A batch stops after several such errors in a row. */
  readonly isUnreachable?: boolean;
  /** Whether it is about the response of a host behind a redirect, which got no key. It never stops the run. */
  readonly isOtherOrigin?: boolean;
  /** The directory in which nothing could be written. A batch stops after several of them in a row. */
  readonly failedDirectory?: string | undefined;
  /**
   * A special case of `code`. `unresolved-name`: no address was found for the host, which is retried only once.
   * `unproved-end`: all bytes may have arrived, but the response has no length that proves it. A hash or a known total
   * still can. For a refused token, the check that failed.
   */
  readonly subcode?: 'unresolved-name' | 'unproved-end' | TokenCheck | undefined;
  readonly cause?: unknown;
  /**
   * Whether the error ends a batch, because all other files would fail as well, or because it reports a signal, the
   * deadline or a limit. True by default for `config`.
   */
  readonly stopsRun?: boolean;
  /** Whether a signal or the deadline has ended the run. Then little time is left to print the error. */
  readonly isInterruption?: boolean;
}

/** All messages are made here, so that no code has to search or edit one. */
export function messageOf({ subject, reason, quote, tries, serviceWaitMs, remarks = [] }: MessageParts): string {
  const parts = subject ? describeSubject(subject) : [];
  const wait = serviceWaitMs === undefined ? [] : [`the service asks to wait ${Math.ceil(serviceWaitMs / 1000)} s`];
  const sentence = [...parts, reason, ...(quote === undefined ? [] : [markForRedaction(quote)]), ...wait].join(': ');
  return [sentence, ...(tries === undefined ? [] : [`${tries} tries`]), ...remarks].join('; ');
}

/** In UTF-16 units. No file name and no host that works is longer. */
const MAX_FOREIGN_NAME = 300;

function describeSubject({ line, name, path, resource, host, proxy, redirectedFrom }: Subject): readonly string[] {
  const redirect = redirectedFrom === undefined ? '' : `${redirectedFrom} redirects to `;
  const through = proxy === undefined ? '' : ` through the proxy ${proxy}`;
  const namedPath = [name, path].filter((part) => part !== undefined).join(' ');
  return [
    ...(line === undefined ? [] : [`line ${line}`]),
    ...(namedPath === '' ? [] : [namedPath]),
    ...(resource === undefined ? [] : [describeResource(resource)]),
    ...(host === undefined ? [] : [`${redirect}${shortened(host, MAX_FOREIGN_NAME)}${through}`]),
  ];
}

function describeResource({ accession, fileName }: Resource): string {
  if (fileName === undefined) return `the listing of ${accession}`;
  return `${shortened(fileName, MAX_FOREIGN_NAME)} of ${accession}`;
}

export interface FilingsError extends Omit<FilingsErrorDetails, 'cause'> {}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor assigns all details
export class FilingsError extends Error implements MessageParts {
  override readonly name = 'FilingsError';
  readonly code: ErrorCode;
  readonly reason: string;

  constructor(code: ErrorCode, reason: string, details: FilingsErrorDetails = {}) {
    super(undefined, { cause: details.cause });
    this.code = code;
    this.reason = reason;
    Object.assign(this, { retryable: false, stopsRun: code === 'config' }, details);
  }

  /** Never print this: it may have secrets that the service has echoed. `messageOf` is for output. */
  override get message(): string {
    return removeMarks(messageOf(this));
  }

  get exitStatus(): number {
    const [status] = EXITS.find(([, codes]) => (codes as readonly ErrorCode[]).includes(this.code)) ?? EXITS[0];
    return status + (this.signal ?? 0);
  }

  /** Whatever is absent in `changes` and in its `subject` stays as it is. An undefined member is removed. */
  with(changes: FilingsErrorDetails & { readonly code?: ErrorCode; readonly reason?: string }): FilingsError {
    const { code, reason, ...details } = { ...(this as FilingsError), ...changes };
    const subject = { ...this.subject, ...changes.subject };
    // The spread does not copy the cause, because it is not enumerable.
    return new FilingsError(code, reason, { cause: this.cause, ...details, subject });
  }
}

/** For anything that is thrown but is not a FilingsError. */
export function defectError(cause: unknown): FilingsError {
  const message = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  return new FilingsError('internal', `a defect in the program: ${markForRedaction(message)}`, { cause });
}

/** Adds the resource to an error of the network or of a response, unless it has one. */
export function addResource(resource: Resource, error: unknown): unknown {
  if (!(error instanceof FilingsError) || error.subject?.resource) return error;
  if (error.code !== 'temporary' && error.code !== 'integrity' && !error.isOtherOrigin) return error;
  return error.with({ subject: { resource } });
}

/** For errors of Node or the system: `ENOSPC`, for example. */
export function errnoOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}
