import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { longEnough } from '../patience.ts';
import { filings, type Given } from './run.ts';

const KEY = 'canary-8f3a11';
const [A, B, C, D] = [1, 2, 3, 4].map((n) => `0001234567-24-00000${n}`) as [string, string, string, string];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'filings-list-'));
  return () => rm(folder, { recursive: true, force: true });
});

type Answer = (request: IncomingMessage, response: ServerResponse, accession: string) => void;

/** A service that answers each listing by its accession number; the requests' targets are kept. */
async function service(answer: Answer) {
  const targets: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://service');
    targets.push(url.pathname + url.search);
    answer(request, response, url.searchParams.get('accession_no') ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const env = { FILINGS_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, FILINGS_API_KEY: KEY };
  return { targets, list: (args: string[], options: Given = {}) => list(args, { ...options, env }) };
}

function list(args: string[], options: Given = {}) {
  return filings(['list', ...args], { cwd: folder, ...options, env: { HOME: folder, ...options.env } });
}

/** Answers with a body for each accession number; a number is a status. */
function bodies(by: Readonly<Record<string, unknown>>): Answer {
  return (_request, response, accession) => {
    const body = by[accession] ?? [];
    if (typeof body === 'number') response.writeHead(body).end(`{"title":"No ${accession}"}`);
    else response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

const FILES = [
  { accession_no: A, file_name: 'a.htm', size: 1234, type: 'text/html', description: 'The report' },
  { accession_no: B, file_name: 'not-ours.htm' },
  { accession_no: A, file_name: 'ex99.htm', size: 99 },
];

describe('the output of filings list', () => {
  it('is one name a line', async () => {
    const { list, targets } = await service(bodies({ [A]: FILES }));
    expect(await list([A])).toMatchObject({ stdout: 'a.htm\nex99.htm\n', stderr: '', exitCode: 0 });
    expect(targets).toEqual([`/v1/filings?accession_no=${A}`]);
  });

  it('names the filing where there are several, and tells who has no match', async () => {
    const { list } = await service(bodies({ [A]: ['a.htm'], [B]: [], [C]: [{ name: 'c\n.htm' }] }));
    expect(await list([A, B, C])).toMatchObject({
      stdout: `${A}\ta.htm\n${C}\tc\\n.htm\n`,
      stderr: expect.stringMatching(/^filings: 0001234567-24-000002: the service lists no files\n/),
      exitCode: 3,
    });
    expect(await list([A, C, '--include', 'a*'])).toMatchObject({
      stdout: `${A}\ta.htm\n`,
      stderr: `${C}: its one file does not match --include and --exclude (matching is case-sensitive)\n`,
      exitCode: 0,
    });
  });

  it('ends records with NUL, names as they are', async () => {
    const { list } = await service(bodies({ [A]: ['a\x1b.htm', 'b\n.htm'] }));
    expect((await list([A, '-0'])).stdout).toBe('a\x1b.htm\0b\n.htm\0');
  });

  it('-0 escapes a name with a NUL inside, which would be two', async () => {
    const { list } = await service(bodies({ [A]: ['a.htm', 'b.htm\0c.htm'] }));
    expect((await list([A, '-0'])).stdout).toBe('a.htm\0b.htm\\x00c.htm\0');
  });

  it('is JSON Lines that --input takes back', async () => {
    const { list } = await service(bodies({ [A]: FILES, [B]: ['b\u202e.htm'] }));
    const { stdout } = await list([A, '--json']);
    expect(
      String(stdout)
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([FILES[0], FILES[2]]);
    expect((await list(['-i', '-'], { input: String(stdout) })).stdout).toBe(`${A}\ta.htm\n${A}\tex99.htm\n`);
    expect((await list([B, '--json'])).stdout).toBe(`{"accession_no":"${B}","file_name":"b\\u202e.htm"}\n`);
  });

  it('is a table with -l', async () => {
    const { list } = await service(bodies({ [A]: FILES }));
    expect((await list([A, '-l'])).stdout).toBe(
      'NAME        SIZE  TYPE       DESCRIPTION\na.htm     1.2 kB  text/html  The report\nex99.htm    99 B\n',
    );
    expect((await list([A, '-l', '--color', 'always'])).stdout).toContain('\x1b[');
  });

  it('is one table with -l of several filings', async () => {
    const { list } = await service(bodies({ [A]: FILES, [B]: ['a-longer-name.htm'] }));
    expect((await list([B, A, '-l'])).stdout.split('\n')).toEqual([
      'ACCESSION             NAME                 SIZE  TYPE       DESCRIPTION',
      `${B}  a-longer-name.htm`,
      `${A}  a.htm              1.2 kB  text/html  The report`,
      `${A}  ex99.htm             99 B`,
      '',
    ]);
  });

  it('is chosen by globs, and asked for with further parameters', async () => {
    const { list, targets } = await service(bodies({ [A]: ['a.htm', 'a.xml', 'b.htm', 'A.HTM'] }));
    const args = [
      A,
      '--include',
      'a.*',
      '--include',
      'b*',
      '--exclude',
      '*.xml',
      '--query',
      'form=8-K',
      '--query',
      'q=a=b&c',
    ];
    expect((await list(args)).stdout).toBe('a.htm\nb.htm\n');
    expect(targets).toEqual([`/v1/filings?accession_no=${A}&form=8-K&q=a%3Db%26c`]);
  });

  it('comes from the sandbox too', async () => {
    const { stdout, exitCode } = await list(['--sandbox', A, '--include', '*.htm']);
    expect(exitCode).toBe(0);
    expect(String(stdout).split('\n')).toContain('primary.htm');
  });
});

describe('--input', () => {
  it('is read line by line; a bad line is a failure and no end', async () => {
    const { list, targets } = await service(bodies({ [A]: ['a.htm'], [B]: ['b.htm'] }));
    const path = join(folder, 'input');
    await writeFile(path, `# both\r\n\r\n${A}\r\n${A}\tother.htm\nnonsense\n{"accession_no":"${B}","file_name":null}`);
    const { stdout, stderr, exitCode } = await list(['--input', path]);
    expect(stdout).toBe(`${A}\ta.htm\n${B}\tb.htm\n`);
    expect(stderr).toMatch(
      /^filings: line 5: 'nonsense' is not an accession number\n {2}hint: .*\nfilings: 1 of 3 filings failed/,
    );
    expect(exitCode).toBe(3);
    expect(targets).toHaveLength(2);
  });

  it('may be stdin beside a config file that can be read only once', async () => {
    const { list } = await service(bodies({ [A]: ['a.htm'] }));
    const fifo = join(folder, 'config');
    await promisify(execFile)('mkfifo', ['-m', '600', fifo]);
    const written = writeFile(fifo, '{"retries":3}');
    expect(await list(['-i', '-', '--config', fifo], { input: A })).toMatchObject({
      stdout: `${A}\ta.htm\n`,
      exitCode: 0,
    });
    await written;
  });

  it.each([
    ['a file that is not there', ['-i', '/nonexistent/input'], /--input \/nonexistent\/input: no such file/],
    ['a directory', ['-i', '/'], /--input \/: it is a directory/],
    ['stdin for two', ['-i', '-', '--api-key-file', '-'], /stdin has one user/],
  ])('is not %s', async (_what, args, message) => {
    const { list, targets } = await service(bodies({}));
    const { stderr, exitCode } = await list([A, ...args]);
    expect(stderr).toMatch(message);
    expect(exitCode).toBe(2);
    expect(targets).toEqual([]);
  });
});

describe('a listing of several pages', () => {
  const paged: Answer = ({ url = '' }, response, accession) => {
    const { page_size: size, page_number: page } = Object.fromEntries(new URL(url, 'http://service').searchParams);
    const all = Array.from({ length: 23 }, (_, i) => ({ accession_no: accession, file_name: `f${i}.htm` }));
    const end = Number(page ?? 1) * Number(size ?? 20);
    const data = all.slice(end - Number(size ?? 20), end);
    response.end(JSON.stringify(accession === A ? { data } : { data, has_more: end < 23 }));
  };

  it('is followed up where it may be a first page', async () => {
    const { list, targets } = await service(paged);
    const { stdout, exitCode } = await list([A, '--query', 'x=y']);
    expect([stdout.trimEnd().split('\n').length, exitCode]).toEqual([23, 0]);
    const asked = `/v1/filings?accession_no=${A}&x=y`;
    expect(targets).toEqual([asked, `${asked}&page_size=20&page_number=2`, `${asked}&page_size=20&page_number=1`]);
  });

  it('is an error where it says so, which --page-size mends', async () => {
    const { list } = await service(paged);
    const part = await list([B]);
    expect([part.stdout, part.exitCode]).toEqual(['', 9]);
    expect(part.stderr).toMatch(
      /incomplete: 20 records came, and has_more says that there is more\n {2}hint: .*--page-size 100/,
    );
    const whole = await list([B, '--page-size', '10']);
    expect([whole.stdout.trimEnd().split('\n').length, whole.exitCode]).toEqual([23, 0]);
  });

  it('Link: rel="next" is a sign, too', async () => {
    const { list } = await service((_request, response) =>
      response.setHeader('Link', '</2>; rel="next"').end('["a.htm"]'),
    );
    const { stderr, exitCode } = await list([A]);
    expect([stderr, exitCode]).toEqual([expect.stringContaining('Link: rel="next" says that there is more'), 9]);
  });
});

describe('the exit status', () => {
  it.each<[what: string, body: unknown, exit: number, message: RegExp]>([
    ['nothing matched', [], 5, /0001234567-24-000001: the service lists no files/],
    ['only other filings', [{ accession_no: B, name: 'b' }], 5, /lists no files/],
    ['404', 404, 5, /the listing of 0001234567-24-000001: 404 Not Found: No 0001234567-24-000001/],
    ['401', 401, 4, /401 Unauthorized/],
    ['403', 403, 4, /403 Forbidden/],
    ['400', 400, 6, /400 Bad Request/],
    ['HTML', '<!doctype html><title>Sign in</title>', 9, /cannot be read: it is an HTML page: Sign in/],
    ['an object of something else', { ok: true }, 9, /JSON without file names: with the members ok/],
  ])('of %s', async (_what, body, exit, message) => {
    const { list } = await service(bodies({ [A]: body }));
    const { stdout, stderr, exitCode } = await list([A]);
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/^filings: /);
    expect(stdout).toBe('');
    expect(exitCode).toBe(exit);
  });

  it('of names that are all filtered out', async () => {
    const { list } = await service(bodies({ [A]: ['a.htm'] }));
    const { stderr, exitCode } = await list([A, '--include', '*.xml']);
    expect(stderr).toContain(`${A}: its one file does not match --include`);
    expect(exitCode).toBe(5);
  });

  it.each<[what: string, by: Record<string, unknown>, exit: number, asked: number]>([
    ['one that failed for good', { [A]: ['a'], [B]: 404, [C]: ['c'] }, 3, 3],
    ['a 403, which may be about one', { [A]: ['a'], [B]: 403, [C]: ['c'] }, 3, 3],
    ['temporary failures', { [A]: 503, [B]: ['b'], [C]: 501 }, 7, 3],
    ['both', { [A]: 503, [B]: 404, [C]: ['c'] }, 3, 3],
    ['a 401, which ends the run', { [A]: ['a'], [B]: 401, [C]: ['c'] }, 4, 2],
    ['a 401 after one that failed for good', { [A]: 404, [B]: 401, [C]: ['c'] }, 4, 2],
  ])('of several with %s', async (_what, by, exit, asked) => {
    const { list, targets } = await service(bodies(by));
    const { exitCode } = await list([A, B, C, '--retries', '0', '--jobs', '1']);
    expect(exitCode).toBe(exit);
    expect(targets).toHaveLength(asked);
  });

  it('of a run that the deadline ends is 7, though one failed for good; what was left is told', async () => {
    const hangs: Answer = (_request, response, accession) => {
      if (accession === A) response.writeHead(404).end();
    };
    const { list } = await service(hangs);
    const [fromArguments, fromInput] = await longEnough(
      (seconds) =>
        Promise.all([
          list([A, B, C, '--deadline', `${seconds}s`]),
          list(['-i', '-', '--deadline', `${seconds}s`], { input: `${A}\n${B}\n${C}\n` }),
        ]),
      (both) => both.every(({ stderr }) => stderr.includes('404')),
    );
    const { stderr, exitCode } = fromArguments;
    expect(exitCode).toBe(7);
    expect(stderr).toMatch(/^filings: the listing of 0001234567-24-000001: 404 /);
    expect(stderr).toMatch(/deadline.*; 2 filings not started\n/);
    expect(fromInput).toMatchObject({ exitCode: 7, stderr: expect.stringMatching(/; the rest not started\n/) });
  });

  it('of a service that is not there, after ten in a row', async () => {
    const input = Array.from({ length: 15 }, (_, i) => `0001234567-24-0000${10 + i}`).join('\n');
    const { stderr, exitCode } = await list(['-i', '-', '--retries', '0', '--base-url', 'http://127.0.0.1:1'], {
      input,
      env: { FILINGS_API_KEY: KEY },
    });
    expect(exitCode).toBe(7);
    expect(String(stderr).match(/^filings: the listing of|^filings: .*127/gm)).toHaveLength(10);
  });

  it.each<[args: string[], message: RegExp]>([
    [[], /no ACCESSION/],
    [['0001234567-24000001'], /is not an accession number\n {2}hint: did you mean 0001234567-24-000001\?/],
    [[A, '--query', 'x'], /--query: the value is not NAME=VALUE/],
    [[A, '--query', '=x'], /--query: the value is not NAME=VALUE/],
    [[A, '--query', 'accession_no=x'], /--query cannot set accession_no\n {2}hint: name the filing/],
    [[A, '--query', 'page_size=5'], /--query cannot set page_size\n {2}hint: use --page-size N/],
    [[A, '--query', 'page_number=5'], /--query cannot set page_number/],
    [[A, '--page-size', '0'], /--page-size/],
    [[A, '-l', '--json'], /--long cannot be used with --json/],
    [[A, '--include', ''], /--include '': it is empty/],
  ])('of %j is 2', async (args, message) => {
    const { stderr, exitCode } = await list(args, { env: { FILINGS_BASE_URL: 'http://127.0.0.1:1' } });
    expect(stderr).toMatch(message);
    expect(exitCode).toBe(2);
  });
});

it.each([['--quiet'], ['--progress=none']])('a wait is not reported with %s', async (option) => {
  let asked = 0;
  const { list } = await service((_request, response) => {
    asked += 1;
    if (asked === 1) response.writeHead(503, { 'retry-after': '0' }).end();
    else response.end('["a.htm"]');
  });
  expect(await list([A, option])).toMatchObject({ stdout: 'a.htm\n', stderr: '', exitCode: 0 });
});

describe('errors', () => {
  it('are JSON lines when asked for, the last being the one that ends it', async () => {
    const { list } = await service(bodies({ [A]: 404, [B]: [], [C]: ['c'] }));
    const { stderr, exitCode } = await list([A, B, C, '--error-format', 'json']);
    const lines = String(stderr)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { error: { code: 'not_found', exit_code: 5, problem: { status: 404, title: `No ${A}` } } },
      { error: { code: 'not_found', message: `${B}: the service lists no files` } },
      { error: { code: 'partial', exit_code: 3 } },
    ]);
    expect(exitCode).toBe(3);
  });

  it('hold no secret; a listing is data, and exact', async () => {
    const { list } = await service((request, response, accession) => {
      const key = request.headers.authorization ?? '';
      if (accession === D) response.writeHead(400).end(JSON.stringify({ title: key, [key]: encodeURIComponent(key) }));
      else response.end(JSON.stringify([{ name: `${key}.htm`, description: `of ${key}`, [key]: 1 }]));
    });
    for (const form of [[], ['-0'], ['-l'], ['--json', '-v'], ['--error-format', 'json', '-v']]) {
      const { stdout, stderr } = await list([A, D, ...form]);
      expect(stdout).toContain(`${KEY}.htm`);
      if (form.includes('--json')) {
        expect(JSON.parse(String(stdout))).toMatchObject({
          file_name: `${KEY}.htm`,
          description: `of ${KEY}`,
          [KEY]: 1,
        });
      }
      for (const secret of [KEY, Buffer.from(KEY).toString('base64')]) expect(stderr).not.toContain(secret);
    }
  });
});

it('asks for as many listings at a time as there are jobs, and shows them in their order', async () => {
  const accessions = Array.from({ length: 8 }, (_, n) => `0001234567-24-00001${n}`);
  const waiting: (() => void)[] = [];
  let most = 0;
  const { list } = await service((_request, response, accession) => {
    waiting.push(() => response.end(JSON.stringify([`${accession.slice(-1)}.htm`])));
    most = Math.max(most, waiting.length);
    // The last of four that wait is answered first.
    if (waiting.length === 4) for (const answer of waiting.splice(0).reverse()) answer();
  });
  const { stdout, exitCode } = await list([...accessions, '--jobs', '4']);
  expect({ exitCode, most }).toEqual({ exitCode: 0, most: 4 });
  expect(String(stdout).trimEnd().split('\n')).toEqual(accessions.map((one) => `${one}\t${one.slice(-1)}.htm`));
});
