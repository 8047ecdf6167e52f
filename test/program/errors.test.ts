import { describe, expect, onTestFinished, test } from 'vitest';
import { head, sendAndEnd } from '../servers/answers.ts';
import { closedPort, type Script, startScripted } from '../servers/scripted.ts';
import { ACCESSION, serviceAt, workplace } from './run.ts';

async function scripted(script: Script) {
  const server = await startScripted(script);
  onTestFinished(() => server.close());
  return server;
}

async function download(url: string, more: string[] = [], env: Record<string, string> = {}) {
  const place = await workplace();
  const args = ['download', ACCESSION, 'a.htm', '--retries', '0', ...more];
  const ended = await place.filings(args, { ...serviceAt(url), ...env });
  expect(ended.stdout.toString()).toBe('');
  return { ...ended, names: await place.names() };
}

const sends =
  (status: number, type: string | undefined, body: string, chunked = false): Script =>
  (socket) => {
    const bytes = Buffer.from(body);
    const framing = chunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': bytes.length };
    socket.write(head(status, { ...(type ? { 'Content-Type': type } : {}), ...framing }));
    if (chunked) socket.write(`${bytes.length.toString(16)}\r\n`);
    socket.write(bytes);
    if (chunked) socket.write('\r\n0\r\n\r\n');
  };

const PROBLEM = {
  type: 'https://tools.ietf.org/html/rfc9110#section-15.5.1',
  title: 'One or more validation errors occurred.',
};

// service-in-practice: "Error bodies seen in the wild".
describe('an error body', () => {
  test.each<[string, Script, number, RegExp[]]>([
    [
      '404 without type and instance, chunked',
      sends(
        404,
        'application/json; charset=utf-8',
        '{"title":"Item not found","status":404,"detail":"no such file"}',
        true,
      ),
      5,
      [/404/, /Item not found|no such file/],
    ],
    [
      '400 with errors and a traceId',
      sends(
        400,
        'application/problem+json',
        JSON.stringify({
          ...PROBLEM,
          status: 400,
          traceId: '00-abc-01',
          errors: {
            accession_no: ['is bad', 'is short'],
            '$.date': ['no date'],
            '$.Ages[1]': ['too old'],
            '': ['empty name'],
          },
        }),
      ),
      6,
      [/400/, /accession_no/, /is bad/, /is short/, /\$\.date/, /too old/, /empty name/, /00-abc-01/],
    ],
    [
      'every member null',
      sends(
        500,
        'application/json',
        '{"type":null,"title":null,"status":null,"detail":null,"instance":null,"errors":null,"extensions":{}}',
      ),
      7,
      [/500/],
    ],
    ['a status as text', sends(404, 'application/json', '{"title":"x","status":"404"}'), 5, [/404/]],
    ['a status of its own', sends(404, 'application/json', '{"title":"x","status":200}'), 5, [/404/]],
    [
      'members of the wrong types',
      sends(400, 'application/json', '{"title":7,"detail":[1],"instance":{},"errors":"none","status":{}}'),
      6,
      [/400/],
    ],
    [
      'errors that are no lists',
      sends(400, 'application/json', '{"title":"x","errors":{"a":"one","b":[1,null,"two"],"c":{}}}'),
      6,
      [/400/, /two/],
    ],
    ['error', sends(401, 'application/json', '{"error":"Invalid API key"}'), 4, [/401/, /Invalid API key/]],
    ['message', sends(403, 'application/json', '{"message":"Forbidden for you"}'), 4, [/403/, /Forbidden for you/]],
    ['a line of text', sends(503, 'text/plain', 'over capacity\n'), 7, [/503/, /over capacity/]],
    [
      'nothing but WWW-Authenticate',
      (socket) => void socket.write(head(401, { 'WWW-Authenticate': 'Bearer realm="x"', 'Content-Length': 0 })),
      4,
      [/401/],
    ],
    [
      'a page',
      sends(
        403,
        'text/html',
        '<html><head><title>Request Rate Threshold Exceeded</title></head><body><h1>no</h1></body></html>',
      ),
      4,
      [/403/, /Request Rate Threshold Exceeded/],
    ],
    [
      'XML',
      sends(
        403,
        'application/xml',
        '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>',
      ),
      4,
      [/403/, /Access ?Denied/],
    ],
    [
      'a long stack trace',
      sends(500, 'application/json', JSON.stringify({ title: 'boom', exception: 'at x\n'.repeat(20_000) })),
      7,
      [/500/, /boom/],
    ],
    [
      'octet-stream',
      sends(404, 'application/octet-stream', '{"title":"Item not found"}'),
      5,
      [/404/, /Item not found/],
    ],
    ['no type', sends(404, undefined, '{"title":"Item not found"}'), 5, [/404/, /Item not found/]],
    [
      'validationproblem',
      sends(400, 'application/validationproblem+json', '{"title":"bad","errors":{"file_name":["missing"]}}'),
      6,
      [/file_name/, /missing/],
    ],
    ['empty JSON', sends(404, 'application/json', ''), 5, [/404/]],
    ['torn JSON', sends(404, 'application/json', '{"title":"Item'), 5, [/404/]],
    ['a list', sends(400, 'application/json', '["a","b"]'), 6, [/400/]],
    ['null', sends(400, 'application/json', 'null'), 6, [/400/]],
    ['binary', sends(500, 'application/octet-stream', '\0\x01\x02\xff'), 7, [/500/]],
    ['a gateway’s own status', sends(550, 'text/plain', 'no data'), 7, [/550/]],
    [
      'a body that is cut',
      (socket) => sendAndEnd(socket, `${head(404, { 'Content-Length': 100 })}{"title":"x"`, 'FIN'),
      5,
      [/404/],
    ],
  ])('%s', async (_, script, exit, words) => {
    const server = await scripted(script);
    const { exitCode, stderr, names } = await download(server.url);
    expect(exitCode, stderr).toBe(exit);
    expect(stderr).toMatch(/^filings: a\.htm of 0001234567-24-000001: /);
    expect(stderr).toMatch(/\n +hint: /);
    for (const word of words) expect(stderr).toMatch(word);
    expect(stderr.length).toBeLessThan(5000);
    expect(names).toEqual([]);
  });

  test('is shown with its control characters made visible', async () => {
    const server = await scripted(
      sends(400, 'application/json', JSON.stringify({ title: 'a\x1b]0;owned\x07b\u202ec', detail: 'd\r\ne\x9bf' })),
    );
    const { stderr } = await download(server.url);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(stderr).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
    expect(stderr).toContain('owned');
  });

  test('that never ends does not hold the program', async () => {
    const server = await scripted((socket) => {
      socket.write(head(500, { 'Transfer-Encoding': 'chunked' }));
      const more = () =>
        !socket.destroyed && socket.write(`10000\r\n${'x'.repeat(65_536)}\r\n`, () => setImmediate(more));
      more();
    });
    const { exitCode, stderr } = await download(server.url);
    expect(exitCode).toBe(7);
    expect(stderr.length).toBeLessThan(5000);
  });

  test('that drips does not hold the program', async () => {
    const server = await scripted((socket) => {
      socket.write(`${head(404, { 'Content-Length': 100_000 })}{"title":`);
      const timer = setInterval(() => socket.write(' '), 50);
      socket.on('close', () => clearInterval(timer));
    });
    expect((await download(server.url)).exitCode).toBe(5);
  });
});

describe('in JSON', () => {
  test('stderr holds JSON lines only, the error last', async () => {
    const body = JSON.stringify({ title: 'bad', detail: 'worse', errors: { a: ['b'] }, traceId: 't' });
    const server = await scripted(sends(400, 'application/problem+json', body));
    const { stderr } = await download(server.url, ['--error-format', 'json', '-v']);
    const lines = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.at(-1)).toMatchObject({
      error: {
        code: 'rejected',
        exit_code: 6,
        message: expect.stringContaining('400'),
        hint: expect.any(String),
        problem: { title: 'bad', detail: 'worse', status: 400, errors: { a: ['b'] }, traceId: 't' },
      },
    });
  });
});

describe('no connection', () => {
  test.each<[string, () => Promise<string> | string, RegExp]>([
    ['refused', async () => `http://127.0.0.1:${await closedPort()}`, /connection refused/],
    ['a name that does not resolve', () => 'https://does-not-exist.invalid', /does not resolve|could not be looked up/],
    ['closed at once', async () => (await scripted((socket) => void socket.destroy())).url, /closed before an answer/],
    [
      'TLS expected, HTTP spoken',
      async () => (await scripted(() => {})).url.replace('http:', 'https:'),
      /127\.0\.0\.1/,
    ],
  ])('%s: exit 7, one plain line and a hint', async (_, where, words) => {
    // A resolver may take its time over a name that nobody has.
    const { exitCode, stderr } = await download(await where(), ['--connect-timeout', '50s', '--idle-timeout', '50s']);
    expect(exitCode, stderr).toBe(7);
    expect(stderr).toMatch(words);
    expect(stderr.trimEnd().split('\n')).toHaveLength(2);
    expect(stderr).not.toMatch(/\bat .*:\d+:\d+/);
  });
});

describe('a batch', () => {
  const byName =
    (answers: Readonly<Record<string, Script>>): Script =>
    (socket, request) => {
      const name = new URL(request.path, 'http://h').searchParams.get('file_name') ?? '';
      return (answers[name] ?? sends(200, undefined, name))(socket, request);
    };
  const batch = async (answers: Readonly<Record<string, Script>>, names: string[], more: string[] = []) => {
    const server = await scripted(byName(answers));
    const place = await workplace();
    const args = ['download', ACCESSION, ...names, '--retries', '0', '-j', '1', ...more];
    return { ...(await place.filings(args, serviceAt(server.url))), names: (await place.names()).sort(), server };
  };

  test('a wait over the cap stops, and tells when', async () => {
    const wait: Script = (socket) => void socket.write(head(429, { 'Retry-After': 86_400, 'Content-Length': 0 }));
    const { exitCode, server, stderr } = await batch({ b: wait }, ['a', 'b', 'c']);
    expect([exitCode, server.requests.length]).toEqual([7, 2]);
    expect(stderr).toContain('--max-retry-after');
  });
});
