import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { type ErrorCode, EXIT_STATUSES, FilingsError } from '../../src/errors.ts';
import { markForRedaction, Secrets } from '../../src/secrets.ts';
import { addFlagsToHint } from '../../src/session/presentation.ts';
import { type Presentation, renderError, toErrorObject } from '../../src/terminal/messages.ts';

const plain = { errorFormat: 'text', color: 'never', verbose: false } as const;
const text = (
  error: FilingsError,
  options: Partial<Presentation> = {},
  { secrets = new Secrets(), printedHints = new Set<string>() } = {},
) => renderError(error, { ...plain, ...options }, { stderr: new PassThrough(), env: {}, secrets, printedHints });

function json(error: FilingsError): { error: Record<string, unknown> } {
  const line = text(error, { errorFormat: 'json' });
  expect(line).toMatch(/^[^\n]+\n$/);
  return JSON.parse(line);
}

const validation = new FilingsError('rejected', 'a.htm of 0001234567-24-000001: 400 Bad Request: Not valid.', {
  hint: 'check the names',
  retryAt: Date.UTC(2026, 0, 2),
  problem: {
    type: 'https://example.test/problems/validation',
    title: 'Not valid.',
    status: 400,
    detail: 'Two members are wrong.',
    instance: '/v1/download',
    errors: { accession_no: ['Not in the form.', 'Too long.'], '': ['No body.'], '$.date': ['No date.'] },
    traceId: '00-abc-01',
    empty: '',
    none: {},
    nested: { code: 7 },
  },
});

describe('renderError as text', () => {
  test('shows the members of the problem indented and the hint last', () => {
    expect(text(validation)).toBe(
      `filings: a.htm of 0001234567-24-000001: 400 Bad Request: Not valid.
  Two members are wrong.
  accession_no:
    Not in the form.
    Too long.
  (the request):
    No body.
  $.date:
    No date.
  type: https://example.test/problems/validation
  instance: /v1/download
  traceId: 00-abc-01
  nested: {"code":7}
  retry at: 2026-01-02T00:00:00.000Z
  hint: check the names
`,
    );
  });

  test.each`
    reason                | more                                | problem
    ${'401 Unauthorized'} | ${{ quote: 'Bad key' }}             | ${{ status: 401, type: 'about:blank', detail: 'Bad key', error: 'Bad key' }}
    ${'404 Not Found'}    | ${{}}                               | ${{ status: 404, title: 'Not Found', detail: 'Not Found' }}
    ${'429 Too Many'}     | ${{ quote: 'slow down', tries: 2 }} | ${{ status: 429, detail: 'slow down', type: 'https://httpstatuses.io/429' }}
    ${'cannot be read'}   | ${{}}                               | ${{ status: 401, detail: 'cannot be read' }}
  `('omits what repeats the message, and types that say nothing: $reason, $problem', ({ reason, more, problem }) => {
    const error = new FilingsError('auth', reason, { ...more, subject: { name: 'a.htm' }, problem });
    expect(text(error)).toMatch(/^.*\n {2}hint: .*\n$/);
    expect(text(error)).toContain(`filings: ${error.message}\n`);
  });

  test('never cuts own words and paths, but names that are too long to be any', () => {
    const path = `/${'p'.repeat(4000)}`;
    const resource = { accession: '0001234567-24-000001', fileName: 'n'.repeat(5000) };
    for (const subject of [{ path }, { path, resource }]) {
      const error = new FilingsError('local_io', 'r'.repeat(3000), {
        subject,
        quote: 'q'.repeat(3000),
        hint: 'h'.repeat(3000),
      });
      expect(text(error)).toMatch(
        /^filings: \/p{4000}: (n{299}… of 0001234567-24-000001: )?r{3000}: q{999}…\n {2}hint: h{3000}\n$/,
      );
      expect(json(error).error).toMatchObject({
        message: expect.stringMatching(/r{3000}: q{999}…$/),
        hint: 'h'.repeat(3000),
      });
    }
  });

  test('shows a hint once, even if another error has it', () => {
    const printedHints = new Set<string>();
    const show = (hint: string) => text(new FilingsError('temporary', 'a', { hint }), {}, { printedHints });
    expect([show('wait'), show('wait'), show('look')]).toEqual([
      'filings: a\n  hint: wait\n',
      'filings: a\n',
      'filings: a\n  hint: look\n',
    ]);
  });

  test('escapes and bounds text of the service', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`p${i}`, 'wrong']));
    const error = new FilingsError('temporary', 'a', {
      quote: `\x1b[2J\nb: 500 ${'x'.repeat(5000)}`,
      problem: { status: 500, detail: `\u202e${'d'.repeat(9000)}`, stack: 's\n'.repeat(9000), 'n\x07': 'v', ...many },
      hint: 'h\r',
    });
    const output = text(error);
    for (const part of ['filings: a: \\x1b[2J\\nb: 500 x', '  \\u202edd', '  n\\x07: v\n', 'hint: h\\r\n'])
      expect(output).toContain(part);
    expect(output.length).toBeLessThan(5000);
    expect(output.split('\n').length).toBeLessThan(60);
    expect(output.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  test('shows the causes only when verbose', () => {
    const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    const cause = new Error('all failed', { cause: reset });
    const error = new FilingsError('temporary', 'a: the connection was lost', { cause });
    expect(text(error)).toBe('filings: a: the connection was lost\n  hint: run it again later\n');
    const output = text(error, { verbose: true });
    expect(output).toContain('  caused by: Error: all failed\n');
    expect(output).toContain('  caused by: Error: read ECONNRESET (ECONNRESET)\n');
  });
});

test('renderError as JSON prints one line with only the members that the error has', () => {
  const { message, hint, problem } = validation;
  const more = { hint, problem, retry_at: '2026-01-02T00:00:00.000Z' };
  expect(json(validation)).toEqual({ error: { code: 'rejected', exit_code: 6, message, ...more } });
  const error = { code: 'temporary', exit_code: 7, message: 'a: b', hint: 'run it again later' };
  expect(json(new FilingsError('temporary', 'a: b'))).toEqual({ error });
});

test('only an interruption has no hint', () => {
  const codes = EXIT_STATUSES.flatMap(
    ([, meaning]) => /^[a-z_, ]+(?=: )/.exec(meaning)?.[0].split(', ') ?? [],
  ) as ErrorCode[];
  expect(codes.length).toBeGreaterThan(11);
  const without = codes.filter((code) => !text(new FilingsError(code, 'x')).includes('hint: '));
  expect(without).toEqual(['interrupted']);
});

describe('secrets', () => {
  const key = 'canary+key/9f3a&"quoted"';
  const forms = [key, encodeURIComponent(key), Buffer.from(key).toString('base64')];
  const secrets = new Secrets();
  secrets.add(key);
  secrets.add('12345678');

  test.each(['text', 'json'] as const)('are redacted in all text from elsewhere as %s', (errorFormat) => {
    for (const form of forms) {
      const error = new FilingsError('auth', `x${markForRedaction(form)}: 401`, {
        quote: `q ${form}`,
        hint: `h ${markForRedaction(form)}`,
        cause: new Error(`c ${form}`, { cause: form }),
        // The detail is truncated within the secret.
        problem: { status: 401, detail: 'd'.repeat(990) + form, errors: { [form]: [form] }, echoed: { [form]: form } },
      });
      const output = text(error, { errorFormat, verbose: true }, { secrets });
      expect(output).toContain('[redacted]');
      expect(output).not.toContain(form.slice(0, 6));
      expect(output).not.toContain(JSON.stringify(form).slice(1, -1));
    }
  });

  test('of any length are redacted in members of a problem that have the name of a field', () => {
    const problem = { status: 400, headers: { 'X-Service-Key': 'ab', Host: 'h' }, authorization: 'ab', x: 'ab' };
    const error = new FilingsError('rejected', 'a', { problem, hint: 'h' });
    const redacted = { headers: { 'X-Service-Key': '[redacted]', Host: 'h' }, authorization: '[redacted]' };
    expect(toErrorObject(error, secrets).problem).toEqual({ ...problem, ...redacted });
    expect(text(error)).toBe(
      'filings: a\n  headers: {"X-Service-Key":"[redacted]","Host":"h"}\n  authorization: [redacted]\n  x: ab\n  hint: h\n',
    );
  });

  test('are redacted in numbers, but not in the member names and codes of the contract', () => {
    secrets.add('auth');
    secrets.add('code');
    const error = new FilingsError('auth', 'a', { hint: 'h', problem: { status: 401, key: 12345678, n: 5 } });
    const problem = { status: 401, key: '[redacted]', n: 5 };
    expect(toErrorObject(error, secrets)).toEqual({ code: 'auth', exit_code: 4, message: 'a', hint: 'h', problem });
  });
});

test.each`
  hint                                                      | shown
  ${"filings config set a 'b' && filings config set c d"}   | ${"filings --config 'O'\\''B' config set a 'b' && filings --config 'O'\\''B' config set c d"}
  ${'filings config set a \'"filings list ;rm x; #"\''}     | ${"filings --config 'O'\\''B' config set a '\"filings list ;rm x; #\"'"}
  ${"filings config set a 'x'\\'' filings list ;rm x; #'"}  | ${"filings --config 'O'\\''B' config set a 'x'\\'' filings list ;rm x; #'"}
  ${"the service's list: filings list N 'filings list ;x'"} | ${"the service's list: filings --config 'O'\\''B' list N 'filings list ;x'"}
`('the commands of the hint $hint get flags, but not what is quoted', ({ hint, shown }) => {
  const error = new FilingsError('usage', 'x', { hint });
  expect(addFlagsToHint(error, { config: "O'B" }).hint).toBe(shown);
});
