// Makes the text of errors and other messages for stderr. Secrets are redacted in text from elsewhere, and characters
// that could control a terminal are escaped.
import { Chalk } from 'chalk';
import { errnoOf, type FilingsError, messageOf, type Problem } from '../errors.ts';
import { markForeign, redactJson, type Secrets } from '../secrets.ts';
import { shortened } from '../text.ts';
import { printable, printableJson } from './printable.ts';

/** The settings of a message, and the functions that it needs. */
export interface MessageOptions {
  readonly errorFormat: 'text' | 'json';
  readonly color: boolean;
  /** Adds the causes in text, and the stack of an `internal` error. */
  readonly verbose: boolean;
  readonly secrets: Secrets;
}

/** Returns whether output to a stream has colors. */
export function usesColor(
  setting: 'auto' | 'always' | 'never',
  stream: { readonly isTTY?: boolean },
  term?: string,
): boolean {
  return setting === 'auto' ? stream.isTTY === true && term !== 'dumb' : setting === 'always';
}

/** Returns functions that color a text, or return it unchanged without colors. */
export function colors(isEnabled: boolean) {
  const chalk = new Chalk({ level: isEnabled ? 1 : 0 });
  return { faint: chalk.dim, bad: chalk.red.bold, hint: chalk.cyan };
}

/** Prints one line. As JSON, the kind is the name of the member. */
type Logger = (kind: 'note' | 'warning' | 'trace' | 'log', text: string) => void;

/** The settings of a logger. */
export interface LoggerSettings {
  readonly errorFormat: 'text' | 'json';
  readonly quiet: boolean;
}

/** Returns a logger that passes each line to `write`. */
export function createLogger(
  { errorFormat, quiet }: LoggerSettings,
  secrets: Secrets,
  write: (line: string) => void,
): Logger {
  return (kind, text) => {
    if (quiet) return;
    const line = secrets.redactForeign(text);
    if (errorFormat === 'json') write(`${printableJson({ [kind]: kind === 'warning' ? { message: line } : line })}\n`);
    else write(`${kind === 'warning' ? 'filings: warning: ' : ''}${printable(line)}\n`);
  };
}

/** Returns an error as `--error-format json` and the lines of a report have it, without secrets. */
export function errorObject(error: FilingsError, { secrets }: Pick<MessageOptions, 'secrets'>) {
  const { code, hint } = error;
  // Text is redacted before it is shortened, because a part of a secret is secret, too.
  const display = (text: string) => shortened(secrets.redactForeign(text), MAX_JSON_MESSAGE);
  return {
    code,
    exit_code: error.exitStatus,
    message: display(messageOf(error)),
    ...(hint !== undefined && { hint: display(hint) }),
    ...(error.problem !== undefined && { problem: redactJson(error.problem, secrets) }),
  };
}

// Lengths are in UTF-16 units.
const MAX_MESSAGE = 500;
const MAX_JSON_MESSAGE = 2000;
const MAX_DETAIL = 1000;
const MAX_MEMBER = 200;
const MAX_ENTRIES = 50;
const MAX_CAUSES = 8;

/** Returns an error as lines for stderr, or as one line of JSON. */
export function renderError(error: FilingsError, options: MessageOptions): string {
  const { errorFormat, color, verbose, secrets } = options;
  const retryAt = error.retryAt === undefined ? undefined : new Date(error.retryAt).toISOString();
  if (errorFormat === 'json') {
    return `${printableJson({ error: { ...errorObject(error, options), retry_at: retryAt } })}\n`;
  }
  const paint = colors(color);
  const { hint } = error;
  const display = (text: string, length = MAX_DETAIL) => printable(secrets.redactForeign(text), length);
  const details = error.problem === undefined ? [] : problemLines(error.problem, error);
  const lines = [
    `${paint.bad('filings:')} ${display(messageOf(error), MAX_MESSAGE)}`,
    ...details.slice(0, MAX_ENTRIES).map(([indent, text, length]) => indent + display(markForeign(text), length)),
    ...(details.length > MAX_ENTRIES ? ['  …'] : []),
    ...(retryAt === undefined ? [] : [`  retry at: ${retryAt}`]),
    ...(hint === undefined ? [] : [`  ${paint.hint('hint:')} ${display(hint)}`]),
    ...(verbose ? causesOf(error).map((line) => paint.faint(`  ${display(markForeign(line))}`)) : []),
  ];
  return `${lines.join('\n')}\n`;
}

type ProblemLine = readonly [indent: string, text: string, maxLength?: number];

/** Returns the members of a problem except those that the message includes. */
function problemLines(problem: Problem, { reason, quote }: FilingsError): ProblemLine[] {
  const { type = '', title: _, status, detail = '', instance, errors = {}, ...extensions } = problem;
  const isNew = (text: string) => text !== '' && text !== quote && text !== reason && `${status} ${text}` !== reason;
  // `about:blank` and links to the HTTP documents say no more than the status does.
  const isInformative = !/^about:blank$|rfc\d{4}|httpstatus/i.test(type);
  return [
    ...(isNew(detail) ? [['  ', detail] as const] : []),
    ...Object.entries(errors).flatMap(([property, entries]): ProblemLine[] => [
      ['  ', `${property || '(the request)'}:`, MAX_MEMBER],
      ...entries.map((entry) => ['    ', entry] as const),
    ]),
    ...Object.entries({ type: isInformative ? type : '', instance, ...extensions }).flatMap(
      ([name, value]): ProblemLine[] => {
        const text = memberText(value);
        return isNew(text) ? [['  ', `${name}: ${text}`, MAX_MEMBER]] : [];
      },
    ),
  ];
}

function memberText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'object') return String(value);
  return Object.keys(value).length === 0 ? '' : JSON.stringify(value);
}

/** Returns the causes of an error as lines, the outermost first, or the stack of a defect of the program. */
function causesOf({ code, cause, stack = '' }: FilingsError): readonly string[] {
  if (code === 'internal') return ((cause instanceof Error && cause.stack) || stack).split('\n');
  const causes: string[] = [];
  for (let each = cause; each instanceof Error && causes.length < MAX_CAUSES; each = each.cause) {
    const errno = errnoOf(each);
    causes.push(`caused by: ${each.name}: ${each.message}${errno === undefined ? '' : ` (${errno})`}`);
  }
  return causes;
}
