import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FilingsError, Subject } from '../../src/errors.ts';
import { Secrets } from '../../src/secrets.ts';
import { readErrorBody } from '../../src/service/error-body.ts';
import { errorFromAnswer, type RefusedAnswer } from '../../src/service/refusal.ts';

const subject = { accession: '0001234567-24-000001', fileName: 'a.htm' };
const what = 'a.htm of 0001234567-24-000001';

const secrets = new Secrets();
secrets.add('kP3/x+9"q&Z<');

function from(status: number, body: unknown, more: Partial<RefusedAnswer> = {}): FilingsError {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return errorFromAnswer({ status, headers: {}, body: bytes, subject, ...more }, secrets);
}

describe('the HTTP status alone decides on the code', () => {
  it.each<[status: number, code: string, exit: number]>([
    [400, 'rejected', 6],
    [401, 'auth', 4],
    [403, 'auth', 4],
    [404, 'not_found', 5],
    [405, 'rejected', 6],
    [407, 'rejected', 6],
    [408, 'temporary', 7],
    [410, 'not_found', 5],
    [416, 'rejected', 6],
    [422, 'rejected', 6],
    [425, 'temporary', 7],
    [429, 'temporary', 7],
    [499, 'rejected', 6],
    [500, 'temporary', 7],
    [501, 'temporary', 7],
    [503, 'temporary', 7],
    [505, 'temporary', 7],
    [550, 'temporary', 7],
    [599, 'temporary', 7],
    [302, 'integrity', 9],
    [600, 'integrity', 9],
  ])('%i: %s', (status, code, exit) => {
    const error = from(status, { status: 418, title: 'Other' });
    expect(error.code).toBe(code);
    expect(error.exitStatus).toBe(exit);
    expect(error.message).toMatch(new RegExp(`^${what}: ${status}( [A-Z][\\w' -]+)?: Other$`));
    expect(error.problem?.status).toBe(status);
    expect(error.hint).toBeTruthy();
  });

  it('a success that is refused is not read as an error', () => {
    const error = from(206, '<title>x', { headers: { 'content-type': 'text/html' } });
    expect(error.code).toBe('integrity');
    expect(error.message).toBe(`${what}: 206 Partial Content is not the answer that was asked for`);
  });
});

describe('the line it says', () => {
  it.each<[name: string, status: number, body: unknown, message: string]>([
    ['a title', 404, { title: 'Item not found', status: 404, detail: 'd' }, '404 Not Found: Item not found'],
    ['a title that is the phrase', 404, { title: 'Not Found' }, '404 Not Found'],
    ['no title, a detail', 404, { detail: 'd' }, '404 Not Found'],
    ['nulls', 500, { type: null, title: null, detail: null, extensions: {} }, '500 Internal Server Error'],
    ['error as a string', 401, { error: 'Invalid API key' }, '401 Unauthorized: Invalid API key'],
    ['error as an object', 400, { error: { code: 1, message: 'Bad name' } }, '400 Bad Request: Bad name'],
    ['message', 403, { message: 'Forbidden here' }, '403 Forbidden: Forbidden here'],
    ['OAuth', 400, { error: 'invalid_request', error_description: 'x' }, '400 Bad Request: invalid_request'],
    ['an array of errors', 400, [{ message: 'First' }, { message: 'Second' }], '400 Bad Request: First'],
    ['an array of strings', 400, ['First', 'Second'], '400 Bad Request: First'],
    ['a JSON string', 400, JSON.stringify('Just text'), '400 Bad Request: Just text'],
    ['an empty object', 404, {}, '404 Not Found'],
    ['an empty array', 404, [], '404 Not Found'],
    ['null', 404, 'null', '404 Not Found'],
    ['a number', 404, '404', '404 Not Found'],
    ['plain text', 502, 'upstream went away\r\nmore', '502 Bad Gateway: upstream went away'],
    ['nothing', 503, '', '503 Service Unavailable'],
    ['blanks', 503, ' \r\n ', '503 Service Unavailable'],
    ['an unknown status', 550, 'no data', '550: no data'],
    [
      'HTML',
      503,
      '<!DOCTYPE html><html><head><TITLE lang="en">\n Request Rate &amp; Threshold\tExceeded &#33;</TITLE></head></html>',
      '503 Service Unavailable: Request Rate & Threshold Exceeded !',
    ],
    ['HTML without a title', 502, '<html><script>x()</script><h1>Bad <b>luck</b></h1></html>', '502 Bad Gateway: Bad…'],
    ['HTML without either', 502, '<html><body><p>Bad <b>luck</b></p></body></html>', '502 Bad Gateway: Bad luck'],
    [
      'XML',
      403,
      '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>',
      '403 Forbidden: AccessDenied: Access Denied',
    ],
    ['a title with line breaks', 400, { title: 'one\r\n  two' }, '400 Bad Request: one two'],
    ['a title of a wrong type', 400, { title: 5, message: 'm' }, '400 Bad Request: m'],
    ['a byte-order mark', 400, '\ufeff{"title":"Marked"}', '400 Bad Request: Marked'],
    ['invalid UTF-8', 400, Buffer.from([0x22, 0xff, 0x61, 0x22]), '400 Bad Request: \ufffda'],
  ])('%s', (_name, status, body, message) => {
    expect(from(status, body).message).toBe(`${what}: ${message}`);
  });

  it('is taken from the challenge when the body is empty', () => {
    const headers = { 'www-authenticate': 'Bearer error="invalid_token", error_description="The token expired"' };
    expect(from(401, '', { headers }).message).toBe(`${what}: 401 Unauthorized: The token expired`);
    const basic = { 'www-authenticate': ['Basic realm="x"', 'Bearer'] };
    expect(from(401, '', { headers: basic }).message).toBe(
      `${what}: 401 Unauthorized: it asks for Basic realm="x", Bearer`,
    );
  });

  it('is cut', () => {
    expect(from(500, 'x'.repeat(1_000_000)).message.length).toBeLessThan(400);
  });
});

describe('the problem', () => {
  it('holds the members of RFC 9457, without nulls and wrong types, with the HTTP status', () => {
    const body = {
      type: 't',
      title: 'T',
      status: '404',
      detail: 'd',
      instance: null,
      traceId: '00-a',
      n: 5,
      o: { p: null },
    };
    expect(from(400, body).problem).toEqual({
      type: 't',
      title: 'T',
      status: 400,
      detail: 'd',
      traceId: '00-a',
      n: 5,
      o: {},
    });
    expect(from(400, { type: 5, title: ['x'], detail: {}, instance: true, errors: 7 }).problem).toEqual({
      status: 400,
      errors: { '': ['7'] },
    });
  });

  it.each<[name: string, errors: unknown, expected: Record<string, readonly string[]>]>([
    ['lists', { accession_no: ['a', 'b'], file_name: ['c'] }, { accession_no: ['a', 'b'], file_name: ['c'] }],
    [
      'odd names',
      { '': ['a'], '$.date': ['b'], '$.Ages[1]': ['c'] },
      { '': ['a'], '$.date': ['b'], '$.Ages[1]': ['c'] },
    ],
    ['strings', { file_name: 'a' }, { file_name: ['a'] }],
    ['nulls and numbers', { a: [null, 5, true], b: null }, { a: ['5', 'true'] }],
    ['nesting', { a: { b: ['x'], c: { d: 'y' } } }, { 'a.b': ['x'], 'a.c.d': ['y'] }],
    ['messages as objects', { a: [{ code: 'c', message: 'm' }] }, { a: ['m'] }],
    ['a list of objects', [{ field: 'a', message: 'm' }, { message: 'n' }], { a: ['m'], '': ['n'] }],
    ['a list of strings', ['x', 'y'], { '': ['x', 'y'] }],
    ['a property called title', { title: ['is missing'] }, { title: ['is missing'] }],
    ['title and detail', [{ field: 'a', title: 'Bad', detail: 'must be b' }], { a: ['Bad: must be b'] }],
    ['detail alone, or twice', [{ detail: 'x' }, { title: 'y', detail: 'y' }], { '': ['x', 'y'] }],
  ])('reads errors: %s', (_name, errors, expected) => {
    expect(from(400, { errors }).problem?.errors).toEqual(expected);
  });

  it('keeps a member called __proto__ as data, in errors too', () => {
    const error = from(400, '{"__proto__":{"polluted":1},"errors":{"__proto__":["x"],"constructor":["y"]}}');
    expect(JSON.stringify(error.problem)).toContain('"__proto__":{"polluted":1}');
    expect(JSON.stringify(error.problem?.errors)).toBe('{"__proto__":["x"],"constructor":["y"]}');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('is bounded, with what the standard names first', () => {
    const body = {
      trace: 't'.repeat(500_000),
      more: Array(100_000).fill('m'),
      title: 'T',
      errors: { a: Array(100_000).fill('e') },
    };
    const error = from(500, body);
    expect(JSON.stringify(error.problem).length).toBeLessThan(60_000);
    expect(error.problem?.title).toBe('T');
    expect(error.problem?.errors?.a?.length).toBeGreaterThan(10);
  });

  it('survives any depth', () => {
    const deep = `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)},"errors":${'{"b":'.repeat(50_000)}1${'}'.repeat(50_000)}}`;
    expect(from(400, deep).code).toBe('rejected');
  });
});

describe('the hint', () => {
  it.each<[status: number, body: unknown, asked: Subject, hint: RegExp]>([
    [401, '', subject, /config check/],
    [403, { title: 'No' }, subject, /not be allowed/],
    [403, '<title>Request Rate Threshold Exceeded</title>', subject, /--rate/],
    [404, '', subject, /filings list 0001234567-24-000001$/],
    [404, '', { ...subject, fileName: 'listing of exhibits.htm' }, /filings list 0001234567-24-000001$/],
    [404, '', { accession: '0001234567-24-000001' }, /accession number/],
    [429, '', subject, /--rate/],
    [503, '', subject, /again later/],
    [407, '', subject, /HTTP_PROXY/],
  ])('%i', (status, body, asked, hint) => {
    expect(from(status, body, { subject: asked }).hint).toMatch(hint);
  });
});

describe('what the caller knows', () => {
  it('is passed on', () => {
    const error = from(503, '', { retryAt: 5, hint: 'wait for it' });
    expect(error).toMatchObject({ retryable: true, retryAt: 5, hint: 'wait for it', stopsRun: false });
    expect(from(401, '')).toMatchObject({ retryable: false, retryAt: undefined, stopsRun: true });
    expect(from(403, '').stopsRun).toBe(false);
  });
});

describe('any body at all', () => {
  const holds = (status: number, body: Buffer) => {
    const error = from(status, body);
    expect(error.message.startsWith(what)).toBe(true);
    expect(JSON.stringify(error.problem).length).toBeLessThan(80_000);
  };

  it('throws nothing for bytes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 999 }), fc.uint8Array({ maxLength: 300 }), (status, bytes) =>
        holds(status, Buffer.from(bytes)),
      ),
    );
  });

  it('throws nothing for JSON', () => {
    const names = fc.constantFrom(
      'errors',
      'error',
      'message',
      'title',
      'status',
      'detail',
      '__proto__',
      'toString',
      '',
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 5 }, fc.jsonValue(), fc.dictionary(names, tie('value'), { noNullPrototype: false })),
    }));
    fc.assert(fc.property(value, (json) => holds(400, Buffer.from(JSON.stringify(json)))));
  });

  it('is quick with hostile markup', () => {
    for (const piece of ['<title ', '<script>', '<', '&#', '<Code'])
      holds(500, Buffer.from(`<${piece.repeat(150_000)}`));
  });
});

describe('a secret in what it says', () => {
  const key = 'kP3/x+9"q&Z<';
  const html = (text: string) => text.replace(/[&<"]/g, (character) => `&#${character.charCodeAt(0)};`);

  // Wherever a cut falls, at 300 for the line, 4096 for a member, 200 for a name, 16 KiB for what is looked at.
  it.each([120, 200, 300, 500, 1000, 4096, 16_384, 32_768])('is told neither whole nor half at a cut at %i', (cut) => {
    for (let before = cut - 14; before <= cut + 1; before += 1) {
      const text = `${'x'.repeat(before)}${key} and more of it`;
      const spread = `${' '.repeat(before)}${key} and more of it`;
      const bodies = [
        { title: text, detail: text, [text]: text, traceId: spread, errors: { [text]: [text] } },
        { title: spread, nested: { [text]: [text] } },
        text,
        spread,
        `<title>${html(text)}</title>`,
      ];
      for (const body of bodies) {
        const { message, problem } = from(400, body);
        expect(`${message}${JSON.stringify(problem)}`).not.toMatch(/kP3\/|x\+9|q&Z/);
      }
    }
  });

  it('is not told half at the end of a body that was cut', () => {
    for (let length = 1; length <= key.length; length += 1) {
      const { message } = from(500, `no ${key.slice(0, length)}`, { truncated: true });
      expect(message).not.toContain(key.slice(0, 4));
    }
  });
});

it('takes no long time over an endless name with many members below it', () => {
  const members = Object.fromEntries(Array.from({ length: 40_000 }, (_, n) => [`m${n}`, 'is wrong']));
  const body = Buffer.from(JSON.stringify({ errors: { ['x'.repeat(500_000)]: members } }));
  const { problem } = readErrorBody({ body, headers: {} }, secrets);
  // Joined to each member, the name would make twenty billion characters.
  expect(JSON.stringify(problem).length).toBeLessThan(1_000_000);
});
