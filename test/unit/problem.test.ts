import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FilingsError } from '../../src/errors.ts';
import { Secrets } from '../../src/secrets.ts';
import { type ErrorResponse, errorFromResponse } from '../../src/service/error-response.ts';
import { renderError, toErrorObject } from '../../src/terminal/messages.ts';
import { expectLinear } from '../growth.ts';
import { proving } from '../proving.ts';

const resource = { accession: '0001234567-24-000001', fileName: 'a.htm' };
const displaySubject = 'a.htm of 0001234567-24-000001';
const KEY = 'kP3/x+9"q&Z<';

const secrets = new Secrets();
secrets.add(KEY);

function from(status: number, body: unknown, more: Partial<ErrorResponse> = {}): FilingsError {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return errorFromResponse({ status, headers: {}, body: bytes, resource, ...more }, secrets);
}

/** With the general hint of a code. */
const hintOf = (error: FilingsError) => toErrorObject(error, secrets).hint;

/** Shows an error as text and as JSON. */
const shown = (error: FilingsError) =>
  (['text', 'json'] as const).map((errorFormat) =>
    renderError(
      error,
      { errorFormat, color: 'never', verbose: true },
      { stderr: new PassThrough(), env: {}, secrets, printedHints: new Set() },
    ),
  );

describe('the error code', () => {
  test.each`
    code           | exitStatus | statuses
    ${'auth'}      | ${4}       | ${[401, 403, 407]}
    ${'not_found'} | ${5}       | ${[404, 410]}
    ${'rejected'}  | ${6}       | ${[400, 405, 416, 422, 499]}
    ${'temporary'} | ${7}       | ${[408, 425, 429, 500, 501, 502, 503, 504, 505, 550, 599]}
    ${'integrity'} | ${9}       | ${[302, 600]}
  `('is $code with exit status $exitStatus for the HTTP statuses $statuses, whatever the body says', (row) => {
    const { statuses, ...expected } = row as { code: string; exitStatus: number; statuses: number[] };
    for (const status of statuses) {
      const error = from(status, { status: 418, title: 'Other' });
      expect(error).toMatchObject({
        ...expected,
        problem: { status },
        message: expect.stringMatching(new RegExp(`^${displaySubject}: ${status}( [A-Z][\\w' -]+)?: Other$`)),
        retryable: [408, 425, 429, 500, 502, 503, 504].includes(status),
        stopsRun: status === 401 || status === 407,
      });
      expect(hintOf(error)).toMatch(/\w/);
    }
  });

  test('is integrity for an unexpected success, whose body is not shown', () => {
    const message = `${displaySubject}: unexpected response: 206 Partial Content`;
    expect(from(206, '<title>x')).toMatchObject({ code: 'integrity', message });
  });
});

const page = '<!DOCTYPE html><html><head><TITLE lang="en">\n Request Rate Threshold\tExceeded !</TITLE></head>';
const denied = '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>';
test.each`
  status | body                                                                  | message
  ${404} | ${{ title: 'Item not found', status: 404, detail: 'd' }}              | ${'404 Not Found: Item not found'}
  ${500} | ${{ type: null, title: null, detail: null, extensions: {} }}          | ${'500 Internal Server Error'}
  ${401} | ${{ error: 'Invalid API key' }}                                       | ${'401 Unauthorized: Invalid API key'}
  ${400} | ${{ error: { code: 1, message: 'Bad name' } }}                        | ${'400 Bad Request: Bad name'}
  ${404} | ${'<html><head><title>404 Not Found</title></head></html>'}           | ${'404 Not Found'}
  ${404} | ${'<title>HTTP Status 404 \u2013 Not Found</title>'}                  | ${'404 Not Found'}
  ${404} | ${'<title>Error 404 (Not Found)</title>'}                             | ${'404 Not Found'}
  ${404} | ${'<title>404 Error</title>'}                                         | ${'404 Not Found'}
  ${404} | ${{ title: '404: Not Found.' }}                                       | ${'404 Not Found'}
  ${404} | ${'<title>404 - \u898b\u3064\u304b\u308a\u307e\u305b\u3093</title>'}  | ${'404 Not Found: \u898b\u3064\u304b\u308a\u307e\u305b\u3093'}
  ${408} | ${'<title>408 Request Time-out</title>'}                              | ${'408 Request Timeout'}
  ${400} | ${'<title>400 The plain HTTP request was sent to HTTPS port</title>'} | ${'400 Bad Request: The plain HTTP request was sent to HTTPS port'}
  ${400} | ${['First', 'Second']}                                                | ${'400 Bad Request: ["First","Second"]'}
  ${502} | ${'upstream went away\r\nmore'}                                       | ${'502 Bad Gateway: upstream went away'}
  ${503} | ${''}                                                                 | ${'503 Service Unavailable'}
  ${503} | ${page}                                                               | ${'503 Service Unavailable: Request Rate Threshold Exceeded !'}
  ${502} | ${'<html><script>x()</script><h1>Bad <b>luck</b></h1></html>'}        | ${'502 Bad Gateway: Bad'}
  ${403} | ${denied}                                                             | ${'403 Forbidden: Access Denied'}
  ${400} | ${{ title: 'one\r\n  two' }}                                          | ${'400 Bad Request: one two'}
  ${400} | ${'\ufeff{"title":"Marked"}'}                                         | ${'400 Bad Request: Marked'}
  ${400} | ${Buffer.from([0xff, 0x61])}                                          | ${'400 Bad Request: \ufffda'}
`('the error message summarizes the response $status $body in one line', ({ status, body, message }) => {
  expect(from(status, body).message).toBe(`${displaySubject}: ${message}`);
});

describe('the problem', () => {
  test('has the members of RFC 9457, without nulls and wrong types, and the HTTP status', () => {
    const body = { type: 't', title: 'T', status: '404', detail: 'd', instance: null, traceId: '00-a', n: 5, o: {} };
    const { instance: _, ...others } = body;
    expect(from(400, body).problem).toEqual({ ...others, status: 400 });
    const fastApi = { detail: [{ loc: ['query', 'file_name'], msg: 'field required' }] };
    expect(from(422, fastApi).problem).toEqual({ ...fastApi, status: 422 });
    expect(shown(from(422, fastApi))[0]).toContain('\n  [{"loc":["query","file_name"],"msg":"field required"}]\n');
    expect(shown(from(403, { detail: { code: 7 } }))[0]).toContain('\n  {"code":7}\n');
    const wrong = { type: 5, title: ['x'], detail: '', instance: true, errors: null };
    expect(from(400, wrong).problem).toEqual({ status: 400 });
  });

  test.each`
    errors                                            | lists
    ${{ accession_no: ['a', 'b'], file_name: ['c'] }} | ${{ accession_no: ['a', 'b'], file_name: ['c'] }}
    ${{ file_name: 'a' }}                             | ${{ file_name: ['a'] }}
    ${{ a: [null, 5, true], b: null, c: { d: 'x' } }} | ${{ a: ['5', 'true'], c: ['{"d":"x"}'] }}
    ${[{ field: 'a', message: 'm' }, 'x']}            | ${{ '': ['{"field":"a","message":"m"}', 'x'] }}
    ${'none'}                                         | ${{ '': ['none'] }}
  `('has the errors $errors as lists of texts', ({ errors, lists }) => {
    expect(from(400, { errors }).problem?.errors).toEqual(lists);
  });

  test('keeps a member called __proto__ as data, in errors too', () => {
    const error = from(400, '{"__proto__":{"polluted":1},"errors":{"__proto__":["x"],"constructor":["y"]}}');
    expect(JSON.stringify(error.problem)).toContain('"__proto__":{"polluted":1}');
    expect(JSON.stringify(error.problem?.errors)).toBe('{"__proto__":["x"],"constructor":["y"]}');
  });
});

const NUMBER = /^check the accession number( and the file name)?$/;
test.each`
  status | body                                                                  | hint
  ${400} | ${{ title: 'Bad' }}                                                   | ${NUMBER}
  ${422} | ${{ detail: [] }}                                                     | ${NUMBER}
  ${400} | ${'<title>400 The plain HTTP request was sent to HTTPS port</title>'} | ${/^check the base URL/}
  ${400} | ${''}                                                                 | ${/^check the base URL/}
  ${405} | ${{ detail: 'Method Not Allowed' }}                                   | ${/^check the base URL/}
  ${402} | ${{ message: 'Pay' }}                                                 | ${/^ask the service's operator/}
`('the hint for $status with the body $body matches $hint', ({ status, body, hint }) => {
  for (const about of [resource, { accession: resource.accession }])
    expect(hintOf(from(status, body, { resource: about }))).toMatch(hint);
});

test.each`
  status | fileName     | hint
  ${403} | ${'a.htm'}   | ${/lack permission.*--rate/}
  ${404} | ${'a.htm'}   | ${/filings list 0001234567-24-000001$/}
  ${404} | ${'ex*'}     | ${/filings download 0001234567-24-000001 --include 'ex\*'$/}
  ${404} | ${undefined} | ${/accession number/}
  ${429} | ${undefined} | ${/--rate/}
  ${503} | ${undefined} | ${/again later/}
`('the hint for a $status of the file $fileName matches $hint', ({ status, hint, fileName }) => {
  const about = { accession: resource.accession, ...(fileName && { fileName }) };
  expect(hintOf(from(status, '', { resource: about }))).toMatch(hint);
});

describe('an error response with any body', () => {
  const isShown = (status: number, body: Uint8Array | string) => {
    const error = from(status, Buffer.from(body));
    expect(error.message.startsWith(displaySubject)).toBe(true);
    for (const text of shown(error)) expect(text.length).toBeLessThan(80_000);
  };

  test('becomes an error that is shown in bounded length', () => {
    const names = fc.constantFrom('errors', 'error', 'message', 'title', 'status', '__proto__', 'toString', '');
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 5 }, fc.jsonValue(), fc.dictionary(names, tie('value'), { noNullPrototype: false })),
    }));
    const json = value.map((each) => JSON.stringify(each));
    const body = fc.oneof(fc.uint8Array({ maxLength: 300 }), json);
    fc.assert(fc.property(fc.integer({ min: 100, max: 999 }), body, isShown), {
      seed: 1,
      numRuns: proving ? 1000 : 100,
    });
  });

  test.each`
    what                   | body
    ${'long members'}      | ${{ trace: 't'.repeat(500_000), errors: { a: Array(99_999).fill('e') } }}
    ${'many members'}      | ${Object.fromEntries(Array.from({ length: 40_000 }, (_, n) => [`m${n}`, 'is wrong']))}
    ${'a long name'}       | ${{ errors: { ['x'.repeat(500_000)]: Array(1000).fill('is wrong') } }}
    ${'many long strings'} | ${{ a: Array(25).fill(Array(25).fill('x'.repeat(1500))) }}
    ${'a deep nest'}       | ${`{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`}
  `('is shown in bounded length with $what', ({ body }) => isShown(400, JSON.stringify(body)));

  test.each(['<title ', '<script>', '<', '&#', '<title>  ', '<h1', '<p> \n'])(
    'is read in twice the time with twice as many %j',
    (piece) => expectLinear(piece, (text) => isShown(500, `<${text}`)),
  );
});

test('shows no part of a secret that markup or truncation splits', () => {
  for (let length = 1; length <= KEY.length; length += 1) {
    const errors = [
      from(400, { errors: { [`${'x'.repeat(199 - length)}${KEY} and more of it`]: 'bad' } }),
      from(500, `<html><h1>${KEY}> and more of it</h1></html>`),
      from(500, `${'x'.repeat(499 - length)}${KEY} and more of it`),
    ];
    for (const text of errors.flatMap(shown)) expect(text).not.toMatch(/kP3\/|x\+9/);
  }
});
