// Formats errors and other messages for stderr, and redacts the foreign text in them: the marked parts of a message
// (`markForRedaction`), the causes of an error and its `problem`.
import { Chalk } from 'chalk';
import { type ErrorCode, errnoOf, type FilingsError, messageOf, type Problem } from '../errors.ts';
import { markForRedaction, redactJson, type Secrets } from '../secrets.ts';
import type { OutputStream, World } from '../world.ts';
import { printable, printableJson } from './printable.ts';

/** The limit of each foreign text, in UTF-16 units. */
const MAX_FOREIGN = 1000;
// The most lines for the members of a problem, and the most causes of an error.
const MAX_PROBLEM_LINES = 50;
const MAX_CAUSES = 8;

/** For errors whose message says all that there is to say. Only an interruption needs no hint. */
const DEFAULT_HINTS: Readonly<Partial<Record<ErrorCode, string>>> = {
  internal: 'please report it; --verbose shows where it happened',
  usage: 'see filings --help',
  config: 'correct it, then run the command again',
  partial: 'see the errors above',
  auth: 'check the key and the token',
  not_found: 'check the name',
  rejected: "ask the service's operator why it rejects the request",
  temporary: 'run it again later',
  local_io: 'check the path, its permissions and the disk',
  integrity: "run it again later; if it fails in the same way, ask the service's operator",
  limit: 'run it again to continue',
};

/** The settings that decide how messages look. */
export interface Presentation {
  readonly errorFormat: 'text' | 'json';
  readonly color: 'auto' | 'always' | 'never';
  /** Adds the causes of an error, or the stack of an `internal` one. JSON has neither. */
  readonly verbose: boolean;
  readonly quiet: boolean;
}

/** TERM is `dumb` if a terminal understands no escape sequences. */
export function createPalette(setting: Presentation['color'], stream: OutputStream, { TERM }: World['env']) {
  const usesColor = setting === 'auto' ? stream.isTTY === true && TERM !== 'dumb' : setting === 'always';
  // The 16 basic colors, which every terminal with colors has.
  const chalk = new Chalk({ level: usesColor ? 1 : 0 });
  return { faint: chalk.dim, bad: chalk.red.bold, hint: chalk.cyan };
}

/**
 * With `--error-format json`, prints `{"note":"…"}`, but a warning like an error: `{"warning":{"message":"…"}}`. A
 * `trace` is about a request (`--verbose`), a `log` about a request to `filings serve`.
 */
type Logger = (kind: 'note' | 'warning' | 'trace' | 'log', text: string) => void;

export function createLogger(
  { errorFormat, quiet }: Pick<Presentation, 'errorFormat' | 'quiet'>,
  secrets: Secrets,
  write: (line: string) => void,
): Logger {
  return (kind, text) => {
    // Drops warnings as well. progress.ts has a second logger for those that `--quiet` must not hide.
    if (quiet) return;
    const line = secrets.redactMarked(text);
    if (errorFormat === 'json') write(`${printableJson({ [kind]: kind === 'warning' ? { message: line } : line })}\n`);
    else write(`${kind === 'warning' ? 'filings: warning: ' : ''}${printable(line)}\n`);
  };
}

/** `--report` and `--error-format json` use this, and add `retry_at` themselves. */
export function toErrorObject(error: FilingsError, secrets: Secrets) {
  const { code, hint = DEFAULT_HINTS[code] } = error;
  return {
    code,
    exit_code: error.exitStatus,
    message: secrets.redactMarked(messageOf(error), MAX_FOREIGN),
    ...(hint !== undefined && { hint: secrets.redactMarked(hint, MAX_FOREIGN) }),
    ...(error.problem !== undefined && { problem: redactJson(error.problem, secrets) }),
  };
}

/** Each line has its line break. */
export function renderError(
  error: FilingsError,
  { errorFormat, color, verbose }: Omit<Presentation, 'quiet'>,
  { stderr, env, secrets, printedHints }: Pick<World, 'stderr' | 'env' | 'secrets' | 'printedHints'>,
): string {
  const retryAt = error.retryAt === undefined ? undefined : new Date(error.retryAt).toISOString();
  if (errorFormat === 'json') {
    return `${printableJson({ error: { ...toErrorObject(error, secrets), retry_at: retryAt } })}\n`;
  }
  const palette = createPalette(color, stderr, env);
  const { hint = DEFAULT_HINTS[error.code] } = error;
  const display = (text: string) => printable(secrets.redactMarked(text, MAX_FOREIGN));
  const details = error.problem === undefined ? [] : describeProblem(error.problem, error);
  const isNewHint = hint !== undefined && !printedHints.has(hint);
  if (isNewHint) printedHints.add(hint);
  const lines = [
    `${palette.bad('filings:')} ${display(messageOf(error))}`,
    ...details.slice(0, MAX_PROBLEM_LINES).map((line) => `  ${display(markForRedaction(line))}`),
    ...(details.length > MAX_PROBLEM_LINES ? ['  …'] : []),
    ...(retryAt === undefined ? [] : [`  retry at: ${retryAt}`]),
    ...(isNewHint ? [`  ${palette.hint('hint:')} ${display(hint)}`] : []),
    ...(verbose ? describeCauses(error).map((line) => palette.faint(`  ${display(markForRedaction(line))}`)) : []),
  ];
  return `${lines.join('\n')}\n`;
}

/**
 * Returns the members of a problem that say more than the message does. The message has `reason`, such as `404 Not
 * Found`, and usually `quote`: the title, unless that only repeats the reason.
 */
function describeProblem(problem: Problem, { reason, quote }: FilingsError): string[] {
  const { type = '', title: _, status, detail, instance, errors = {}, ...extensions } = problem;
  const detailText = formatMember(detail);
  const isNew = (text: string) => !['', quote, reason].includes(text) && `${status} ${text}` !== reason;
  // `about:blank` (RFC 9457, section 4.2.1) and links to descriptions of a status say no more than the status does.
  const isInformative = !/^about:blank$|rfc\d{4}|httpstatus/i.test(type);
  const members = Object.entries({ type: isInformative ? type : '', instance, ...extensions })
    .map(([name, value]) => [name, formatMember(value)] as const)
    .filter(([, text]) => isNew(text));
  return [
    ...(isNew(detailText) ? [detailText] : []),
    // An error with an empty property name is about the request as a whole.
    ...Object.entries(errors).flatMap(([property, entries]) => [
      `${property || '(the request)'}:`,
      ...entries.map((entry) => `  ${entry}`),
    ]),
    ...members.map(([name, text]) => `${name}: ${text}`),
  ];
}

function formatMember(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'object') return String(value);
  return Object.keys(value).length === 0 ? '' : JSON.stringify(value);
}

/** The outermost cause first. */
function describeCauses({ code, cause, stack = '' }: FilingsError): readonly string[] {
  if (code === 'internal') return ((cause instanceof Error && cause.stack) || stack).split('\n');
  const causes: string[] = [];
  for (let each = cause; each instanceof Error && causes.length < MAX_CAUSES; each = each.cause) {
    const errno = errnoOf(each);
    causes.push(`caused by: ${each.name}: ${each.message}${errno === undefined ? '' : ` (${errno})`}`);
  }
  return causes;
}
