import { Chalk } from 'chalk';
import { errnoOf, type FilingsError, type Problem } from '../errors.ts';
import { redacted, type Secrets } from '../secrets.ts';
import { printable, printableJson } from './printable.ts';
import { stackOfSource } from './stack.ts';

// What is said on stderr: errors, and lines beside them. Free of secrets, foreign text made harmless.

export interface MessageOptions {
  readonly errorFormat: 'text' | 'json';
  readonly color: boolean;
  /** Adds the causes in text, and the stack of an `internal` error. */
  readonly verbose: boolean;
  readonly secrets: Secrets;
  readonly hintOf: HintOf;
}

/** Returns what to do about an error, for a person, or undefined if there is nothing to say. */
export type HintOf = (error: FilingsError) => string | undefined;

export function usesColor(
  setting: 'auto' | 'always' | 'never',
  stream: { readonly isTTY?: boolean },
  term?: string,
): boolean {
  return setting === 'auto' ? stream.isTTY === true && term !== 'dumb' : setting === 'always';
}

export function colors(on: boolean) {
  const chalk = new Chalk({ level: on ? 1 : 0 });
  return { faint: chalk.dim, bad: chalk.red.bold, hint: chalk.cyan };
}

/** Where lines are JSON objects, the member's name is the kind; a warning is a note. */
export type Logger = (kind: 'note' | 'warning' | 'trace' | 'log', text: string) => void;

export interface TellerSettings {
  readonly errorFormat: 'text' | 'json';
  readonly quiet: boolean;
}

export function createLogger(
  { errorFormat, quiet }: TellerSettings,
  secrets: Secrets,
  put: (line: string) => void,
): Logger {
  return (kind, text) => {
    if (quiet) return;
    const line = `${kind === 'warning' ? 'warning: ' : ''}${secrets.redact(text)}`;
    if (errorFormat === 'json') put(`${printableJson({ [kind === 'warning' ? 'note' : kind]: line })}\n`);
    else put(`${kind === 'warning' ? 'filings: ' : ''}${printable(line)}\n`);
  };
}

/** Of `--error-format json` and of report lines. */
interface ErrorObject {
  readonly code: string;
  readonly exit_code: number;
  readonly message: string;
  readonly hint?: string;
  readonly problem?: unknown;
}

export function errorObject(
  error: FilingsError,
  { secrets, hintOf }: Pick<MessageOptions, 'secrets' | 'hintOf'>,
): ErrorObject {
  const hint = hintOf(error);
  return {
    code: error.code,
    exit_code: error.exitStatus,
    message: secrets.redact(error.message),
    ...(hint !== undefined && { hint: secrets.redact(hint) }),
    ...(error.problem !== undefined && { problem: redacted(error.problem, secrets) }),
  };
}

const MAX_MESSAGE = 500;
const MAX_DETAIL = 1000;
const MAX_MEMBER = 200;
const MAX_ENTRIES = 50;
const MAX_CAUSES = 8;

export function renderError(error: FilingsError, options: MessageOptions): string {
  const { errorFormat, color, verbose, secrets } = options;
  const retryAt = error.retryAt === undefined ? undefined : rfc3339(error.retryAt);
  if (errorFormat === 'json') {
    return `${printableJson({ error: { ...errorObject(error, options), retry_at: retryAt } })}\n`;
  }
  const paint = colors(color);
  const hint = options.hintOf(error);
  // Redacted before it is cut: half a secret is one too.
  const show = (text: string, length = MAX_DETAIL) => printable(secrets.redact(text), length);
  const told = error.problem === undefined ? [] : problemLines(error.problem, error);
  const lines = [
    `${paint.bad('filings:')} ${show(error.message, MAX_MESSAGE)}`,
    ...told.slice(0, MAX_ENTRIES).map(([indent, text, length]) => indent + show(text, length)),
    ...(told.length > MAX_ENTRIES ? ['  …'] : []),
    ...(retryAt === undefined ? [] : [`  retry at: ${retryAt}`]),
    ...(hint === undefined ? [] : [`  ${paint.hint('hint:')} ${show(hint)}`]),
    ...(verbose ? causesOf(error).map((line) => paint.faint(`  ${show(line)}`)) : []),
  ];
  return `${lines.join('\n')}\n`;
}

type ProblemLine = readonly [indent: string, text: string, maxLength?: number];

/** Returns the members of a problem but those that the message has already. */
function problemLines(problem: Problem, { reason, quote }: FilingsError): ProblemLine[] {
  const { type = '', title: _, status, detail = '', instance, errors = {}, ...extensions } = problem;
  const isNew = (text: string) => text !== '' && text !== quote && text !== reason && `${status} ${text}` !== reason;
  // `about:blank` and links to the HTTP documents say no more than the status does.
  const tells = !/^about:blank$|rfc\d{4}|httpstatus/i.test(type);
  return [
    ...(isNew(detail) ? [['  ', detail] as const] : []),
    ...Object.entries(errors).flatMap(([property, entries]): ProblemLine[] => [
      ['  ', `${property || '(the request)'}:`, MAX_MEMBER],
      ...entries.map((entry) => ['    ', entry] as const),
    ]),
    ...Object.entries({ type: tells ? type : '', instance, ...extensions }).flatMap(([name, value]): ProblemLine[] => {
      const text = memberText(value);
      return isNew(text) ? [['  ', `${name}: ${text}`, MAX_MEMBER]] : [];
    }),
  ];
}

function memberText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'object') return String(value);
  return Object.keys(value).length === 0 ? '' : JSON.stringify(value);
}

/** What lies behind an error, outermost first; of a defect of the program its stack. Line by line. */
function causesOf({ code, cause, stack = '' }: FilingsError): readonly string[] {
  if (code === 'internal') return stackOfSource(cause instanceof Error ? (cause.stack ?? '') : stack).split('\n');
  const causes: string[] = [];
  for (let each = cause; each instanceof Error && causes.length < MAX_CAUSES; each = each.cause) {
    const errno = errnoOf(each);
    causes.push(`caused by: ${each.name}: ${each.message}${errno === undefined ? '' : ` (${errno})`}`);
  }
  return causes;
}

function rfc3339(milliseconds: number): string {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? 'unknown' : date.toISOString();
}
