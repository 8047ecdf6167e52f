import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FilingsError } from '../../src/errors.ts';
import { Secrets } from '../../src/secrets.ts';
import { type ErrorResponse, errorFromResponse } from '../../src/service/error-response.ts';
import { hintOf } from '../../src/session/hints.ts';

const resource = { accession: '0001234567-24-000001', fileName: 'a.htm' };
const displaySubject = 'a.htm of 0001234567-24-000001';
const KEY = 'kP3/x+9"q&Z<';

const secrets = new Secrets();
secrets.add(KEY);

function from(status: number, body: unknown, more: Partial<ErrorResponse> = {}): FilingsError {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const answer = {
    status,
    headers: {},
    body: bytes,
    isTruncated: false,
    resource,
    hintCommand: (command: string) => command,
  };
  return errorFromResponse({ ...answer, ...more }, secrets);
}

describe('the error code', () => {
  it.each<[code: string, exit: number, statuses: number[]]>([
    ['auth', 4, [401, 403, 407]],
    ['not_found', 5, [404, 410]],
    ['rejected', 6, [400, 405, 416, 422, 499]],
    ['temporary', 7, [408, 425, 429, 500, 501, 503, 505, 550, 599]],
    ['integrity', 9, [302, 600]],
  ])('is %s with exit status %i for the HTTP statuses %j, whatever the body says', (code, exitStatus, statuses) => {
    for (const status of statuses) {
      const error = from(status, { status: 418, title: 'Other' });
      expect(error).toMatchObject({ code, exitStatus, problem: { status } });
      expect(hintOf(error)).toMatch(/\w/);
      expect(error.message).toMatch(new RegExp(`^${displaySubject}: ${status}( [A-Z][\\w' -]+)?: Other$`));
      expect(error.retryable).toBe([408, 425, 429, 500, 502, 503, 504].includes(status));
      expect(error.stopsRun).toBe(status === 401 || status === 407);
    }
  });

  it('is integrity for an unexpected success, whose body is not shown', () => {
    const error = from(206, '<title>x', { headers: { 'content-type': 'text/html' } });
    expect(error.code).toBe('integrity');
    expect(error.message).toBe(`${displaySubject}: 206 Partial Content is not the answer that was asked for`);
  });
});

describe('the error message', () => {
  const page =
    '<!DOCTYPE html><html><head><TITLE lang="en">\n Request Rate &amp; Threshold\tExceeded &#33;</TITLE></head>';
  const denied = '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>';
  it.each<[status: number, body: unknown, message: string]>([
    [404, { title: 'Item not found', status: 404, detail: 'd' }, '404 Not Found: Item not found'],
    [404, { detail: 'd' }, '404 Not Found'],
    [500, { type: null, title: null, detail: null, extensions: {} }, '500 Internal Server Error'],
    [401, { error: 'Invalid API key' }, '401 Unauthorized: Invalid API key'],
    [400, { error: { code: 1, message: 'Bad name' } }, '400 Bad Request: Bad name'],
    [400, ['First', 'Second'], '400 Bad Request: ["First","Second"]'],
    [502, 'upstream went away\r\nmore', '502 Bad Gateway: upstream went away'],
    [503, '', '503 Service Unavailable'],
    [503, page, '503 Service Unavailable: Request Rate & Threshold Exceeded !'],
    [502, '<html><script>x()</script><h1>Bad <b>luck</b></h1></html>', '502 Bad Gateway: Bad …'],
    [502, '<html><body><p>Bad <b>luck</b></p></body></html>', '502 Bad Gateway: Bad luck'],
    [403, denied, '403 Forbidden: Access Denied'],
    [400, { title: 'one\r\n  two' }, '400 Bad Request: one two'],
    [400, '\ufeff{"title":"Marked"}', '400 Bad Request: Marked'],
    [400, Buffer.from([0xff, 0x61]), '400 Bad Request: \ufffda'],
  ])('summarizes the response %i %j in one line', (status, body, message) => {
    expect(from(status, body).message).toBe(`${displaySubject}: ${message}`);
  });
});

describe('the problem', () => {
  it('has the members of RFC 9457, without nulls and wrong types, and the HTTP status', () => {
    const body = { type: 't', title: 'T', status: '404', detail: 'd', instance: null, traceId: '00-a', n: 5, o: {} };
    const { instance: _, ...others } = body;
    expect(from(400, body).problem).toEqual({ ...others, status: 400 });
    expect(from(400, { type: 5, title: ['x'], detail: {}, instance: true, errors: null }).problem).toEqual({
      status: 400,
    });
  });

  it.each<[errors: unknown, expected: Record<string, readonly string[]>]>([
    [
      { accession_no: ['a', 'b'], file_name: ['c'] },
      { accession_no: ['a', 'b'], file_name: ['c'] },
    ],
    [{ file_name: 'a' }, { file_name: ['a'] }],
    [
      { a: [null, 5, true], b: null, c: { d: 'x' } },
      { a: ['5', 'true'], c: ['{"d":"x"}'] },
    ],
    [[{ field: 'a', message: 'm' }, 'x'], { '': ['{"field":"a","message":"m"}', 'x'] }],
    ['none', { '': ['none'] }],
  ])('has errors as lists of texts: %j', (errors, expected) => {
    expect(from(400, { errors }).problem?.errors).toEqual(expected);
  });

  it('keeps a member called __proto__ as data, in errors too', () => {
    const error = from(400, '{"__proto__":{"polluted":1},"errors":{"__proto__":["x"],"constructor":["y"]}}');
    expect(JSON.stringify(error.problem)).toContain('"__proto__":{"polluted":1}');
    expect(JSON.stringify(error.problem?.errors)).toBe('{"__proto__":["x"],"constructor":["y"]}');
  });

  it.each<[what: string, body: unknown]>([
    [
      'long members',
      { trace: 't'.repeat(500_000), more: Array(100_000).fill('m'), errors: { a: Array(99_999).fill('e') } },
    ],
    ['many members', Object.fromEntries(Array.from({ length: 40_000 }, (_, n) => [`m${n}`, 'is wrong']))],
    ['a long name', { errors: { ['x'.repeat(500_000)]: Array(1000).fill('is wrong') } }],
    [
      'a deep nest',
      `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)},"errors":${'{"b":'.repeat(50_000)}1${'}'.repeat(50_000)}}`,
    ],
  ])('is bounded in size: %s', (_, body) => {
    const { code, problem } = from(400, body);
    expect(code).toBe('rejected');
    expect(JSON.stringify(problem).length).toBeLessThan(10_000);
  });
});

it.each<[status: number, hint: RegExp, fileName?: string]>([
  [403, /not be allowed.*--rate/, 'a.htm'],
  [404, /filings list 0001234567-24-000001$/, 'a.htm'],
  [404, /accession number/],
  [429, /--rate/],
  [503, /again later/],
])('has a hint for %i that matches %s', (status, hint, fileName) => {
  const { accession } = resource;
  const error = from(status, '', { resource: { accession, ...(fileName && { fileName }) } });
  expect(hintOf(error)).toMatch(hint);
});

describe('an error response with any body', () => {
  const holds = (status: number, body: Uint8Array | string) => {
    const error = from(status, Buffer.from(body));
    expect(error.message.startsWith(displaySubject)).toBe(true);
    expect(JSON.stringify(error.problem).length).toBeLessThan(200_000);
  };

  it('becomes a bounded error without throwing', () => {
    const names = fc.constantFrom('errors', 'error', 'message', 'title', 'status', '__proto__', 'toString', '');
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 5 }, fc.jsonValue(), fc.dictionary(names, tie('value'), { noNullPrototype: false })),
    }));
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      value.map((json) => JSON.stringify(json)),
    );
    fc.assert(fc.property(fc.integer({ min: 100, max: 999 }), body, holds), { numRuns: 200 });
  });

  it('is read quickly with hostile markup', () => {
    for (const piece of ['<title ', '<script>', '<', '&#', '<title>  ', '<h1']) holds(500, `<${piece.repeat(150_000)}`);
  });
});

// The other truncations are tested in test/program/secrets.test.ts.
it('shows no part of a secret that a long member name, markup or truncation splits', () => {
  for (let length = 1; length <= KEY.length; length += 1) {
    const errors = [
      from(400, { errors: { [`${'x'.repeat(199 - length)}${KEY} and more of it`]: 'bad' } }),
      from(500, `<html><p>${KEY}> and more of it</p></html>`),
      from(500, `no ${KEY.slice(0, length)}`, { isTruncated: true }),
    ];
    for (const { message, problem } of errors) expect(`${message}${JSON.stringify(problem)}`).not.toMatch(/kP3\/|x\+9/);
  }
});
