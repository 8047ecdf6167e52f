import { errnoOf, type FilingsError, type Problem } from '../errors.ts';
import type { Secrets } from '../secrets.ts';
import { type Redacted, redacted } from '../secrets.ts';
import { colors } from './colors.ts';
import { printable, printableJson } from './printable.ts';

export interface RenderOptions {
  readonly format: 'text' | 'json';
  readonly color: boolean;
  /** Adds the causes in text, and the stack of an `internal` error. */
  readonly verbose: boolean;
  readonly secrets: Secrets;
}

/** The `error` member of `--error-format json` and of report lines; free of secrets. */
export interface ErrorObject {
  readonly code: string;
  readonly exit_code: number;
  readonly message: string;
  readonly hint?: string;
  readonly problem?: Redacted;
}

const LONGEST_MESSAGE = 500;
const LONGEST_DETAIL = 1000;
const LONGEST_MEMBER = 200;
const MOST_ENTRIES = 50;
const MOST_CAUSES = 8;

/** An error as it goes to stderr: lines that end in a line break, without a secret, foreign text made harmless. */
export function renderError(error: FilingsError, options: RenderOptions): string {
  return options.format === 'json' ? jsonLine(error, options) : textLines(error, options);
}

export function errorObject(error: FilingsError, secrets: Secrets): ErrorObject {
  return {
    code: error.code,
    exit_code: error.exitStatus,
    message: secrets.redact(error.message),
    ...(error.hint !== undefined && { hint: secrets.redact(error.hint) }),
    ...(error.problem !== undefined && { problem: redacted(error.problem, secrets) }),
  };
}

function jsonLine(error: FilingsError, { secrets }: RenderOptions): string {
  const retryAt = error.retryAt !== undefined && { retry_at: rfc3339(error.retryAt) };
  const shown = { ...errorObject(error, secrets), ...retryAt };
  return `${printableJson({ error: shown })}\n`;
}

function textLines(error: FilingsError, { color, verbose, secrets }: RenderOptions): string {
  const paint = colors(color);
  // Redacted before it is cut: half a secret is one too.
  const show = (text: string, length: number) => printable(secrets.redact(text), length);
  const lines = [`${paint.bad('filings:')} ${show(error.message, LONGEST_MESSAGE)}`];
  if (error.problem !== undefined) {
    for (const [indent, text, length] of problemLines(error.problem, error.message)) {
      lines.push(indent + show(text, length));
    }
  }
  if (error.retryAt !== undefined) lines.push(`  retry at: ${rfc3339(error.retryAt)}`);
  if (error.hint !== undefined) lines.push(`  ${paint.hint('hint:')} ${show(error.hint, LONGEST_DETAIL)}`);
  if (verbose) {
    for (const cause of causesOf(error)) {
      for (const line of cause.split('\n')) lines.push(paint.faint(`  ${show(line, LONGEST_DETAIL)}`));
    }
  }
  return `${lines.join('\n')}\n`;
}

type ProblemLine = readonly [indent: string, text: string, maxLength: number];

function problemLines(problem: Problem, message: string): ProblemLine[] {
  const { type, title: _, status, detail, instance, errors, ...extensions } = problem;
  const lines: ProblemLine[] = [];
  if (detail !== undefined && !isSaid(detail, message, status)) lines.push(['  ', detail, LONGEST_DETAIL]);
  lines.push(...validationLines(errors ?? {}));
  for (const [name, value] of Object.entries({ type: tellingType(type), instance, ...extensions })) {
    const text = memberText(value);
    if (text !== '' && !isSaid(text, message, status)) lines.push(['  ', `${name}: ${text}`, LONGEST_MEMBER]);
  }
  return lines.length > MOST_ENTRIES ? [...lines.slice(0, MOST_ENTRIES), ['  ', '…', 1]] : lines;
}

/** Whether the message says it, as a part of its own: `0` and `no` are in many a text that does not say them. */
function isSaid(text: string, message: string, status: number): boolean {
  return [`: ${text}`, `: ${status} ${text}`].some(
    (part) => message.endsWith(part) || message.includes(`${part}; `) || message.includes(`${part}: `),
  );
}

function* validationLines(errors: NonNullable<Problem['errors']>): Generator<ProblemLine> {
  for (const [property, entries] of Object.entries(errors)) {
    yield ['  ', `${property === '' ? '(the request)' : property}:`, LONGEST_MEMBER];
    for (const entry of entries) yield ['    ', entry, LONGEST_DETAIL];
  }
}

/** `about:blank` and links to the HTTP documents say no more than the status does. */
function tellingType(type: string | undefined): string | undefined {
  return type === undefined || /^about:blank$|rfc\d{4}|httpstatus/i.test(type) ? undefined : type;
}

function memberText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'object') return String(value);
  return Object.keys(value).length === 0 ? '' : JSON.stringify(value);
}

/** What lies behind an error, outermost first; of a defect of the program its stack. */
function causesOf({ code, cause, stack = '' }: FilingsError): string[] {
  if (code === 'internal') return [cause instanceof Error ? (cause.stack ?? '') : stack];
  const causes: string[] = [];
  for (let each = cause; each instanceof Error && causes.length < MOST_CAUSES; each = each.cause) {
    const errno = errnoOf(each);
    causes.push(`caused by: ${each.name}: ${each.message}${errno === undefined ? '' : ` (${errno})`}`);
  }
  return causes;
}

function rfc3339(milliseconds: number): string {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? 'unknown' : date.toISOString();
}
