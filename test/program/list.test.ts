import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { type Fields, head } from '../servers/answers.ts';
import { asking, jsonOf, linesOf, type RunOptions, serviceAt, workplace } from './run.ts';

const [A, B, C] = [1, 2, 3].map((n) => `0001234567-24-00000${n}`) as [string, string, string];

type Answer = (accession: string, parameters: Readonly<Record<string, string>>) => unknown;

/** A service that answers each listing with the result of `answer`: a body, a head with a body, or a promise of one. */
async function service(answer: Answer) {
  const { filings, ...place } = await asking(async (socket, { path }) => {
    const { accession_no = '', ...parameters } = Object.fromEntries(new URL(path, 'http://s').searchParams);
    const body = await answer(accession_no, parameters);
    socket.write(typeof body === 'string' && body.startsWith('HTTP/') ? body : ok(body));
  });
  return {
    ...place,
    asked: () => place.requests.map(({ path }) => path),
    async list(args: string[], runOptions: Omit<RunOptions, 'env'> = {}) {
      const { exitCode, stdout, stderr } = await filings(['list', ...args], {}, runOptions);
      return { exitCode, stdout: `${stdout}`, stderr };
    },
  };
}

function ok(body: unknown, fields: Fields = {}): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return head(200, { 'Content-Length': Buffer.byteLength(text), ...fields }) + text;
}

/** The answer for each accession number. A number is a status. */
const by =
  (bodies: Readonly<Record<string, unknown>>): Answer =>
  (accession) => {
    const body = bodies[accession] ?? [];
    const problem = `{"title":"No ${accession}"}`;
    return typeof body === 'number' ? head(body, { 'Content-Length': problem.length }) + problem : body;
  };

const FILES = [
  { accession_no: A, file_name: 'a.htm', size: 1234, type: 'text/html', description: 'The report' },
  { accession_no: B, file_name: 'not-ours.htm' },
  { accession_no: A, file_name: 'ex99.htm', size: 99 },
];

describe('the output of filings list', () => {
  it.each<[what: string, args: string[], stdout: string, bodies: Record<string, unknown>]>([
    ['one name per line', [A], 'a.htm\nex99.htm\n', { [A]: FILES }],
    ['escaped names', [A], 'a\\x1b\\n\\u202e.htm\n', { [A]: ['a\x1b\n\u202e.htm'] }],
    ['filing and name for several filings', [A, C], `${A}\ta.htm\n${C}\tc.htm\n`, { [A]: ['a.htm'], [C]: ['c.htm'] }],
    ['the exact names with -0', [A, '-0'], 'a\x1b.htm\0b\n.htm\0', { [A]: ['a\x1b.htm', 'b\n.htm'] }],
    ['an escaped NUL with -0', [A, '-0'], 'a.htm\0b\\x00c.htm\0', { [A]: ['a.htm', 'b\0c.htm'] }],
    [
      'one table for several filings with -l',
      [B, A, '-l', '--include', 'a*'],
      `ACCESSION             NAME            SIZE  TYPE       DESCRIPTION\n${B}  a-longer.htm\n${A}  a.htm         1.2 kB  text/html  The report\n`,
      { [A]: FILES, [B]: ['a-longer.htm'] },
    ],
    ['JSON Lines', [B, '--json'], `{"accession_no":"${B}","file_name":"b\\u202e.htm"}\n`, { [B]: ['b\u202e.htm'] }],
  ])('is %s', async (_what, args, stdout, bodies) => {
    const { list } = await service(by(bodies));
    expect(await list(args)).toEqual({ stdout, stderr: '', exitCode: 0 });
  });

  it('reports filings without a match on stderr', async () => {
    const { list } = await service(by({ [A]: ['a.htm'], [B]: [], [C]: ['c.htm'] }));
    expect(await list([A, B, C])).toMatchObject({
      stdout: `${A}\ta.htm\n${C}\tc.htm\n`,
      stderr: expect.stringMatching(/^filings: the listing of 0001234567-24-000002: the service lists no files\n/),
      exitCode: 3,
    });
    expect(await list([A, C, '--include', 'a*'])).toMatchObject({
      stdout: `${A}\ta.htm\n`,
      stderr: `${C}: its one file does not match --include and --exclude (matching is case-sensitive)\n`,
      exitCode: 0,
    });
  });

  it('is JSON Lines with all members of the service, and --input accepts it', async () => {
    const { list } = await service(by({ [A]: FILES }));
    const { stdout } = await list([A, '--json']);
    expect(jsonOf(stdout)).toEqual([FILES[0], FILES[2]]);
    expect((await list(['-i', '-'], { input: stdout })).stdout).toBe(`${A}\ta.htm\n${A}\tex99.htm\n`);
  });

  it('has the files that match the patterns, and the request has the parameters of --query', async () => {
    const { list, asked } = await service(by({ [A]: ['a.htm', 'a.xml', 'b.htm', 'A.HTM'] }));
    const globs = ['--include', 'a.*', '--include', 'b*', '--exclude', '*.xml'];
    const { stdout } = await list([A, ...globs, '--query', 'form=8-K', '--query', 'q=a=b&c']);
    expect(stdout).toBe('a.htm\nb.htm\n');
    expect(asked()).toEqual([`/v1/filings?accession_no=${A}&form=8-K&q=a%3Db%26c`]);
  });

  it.each(['--json', '-l', '-0'])('is complete for 150,000 files with %s', async (form) => {
    // More names than a function call takes as arguments.
    const names = Array.from({ length: 150_000 }, (_, i) => `f${i}.htm`);
    const { list } = await service(() => names);
    const { exitCode, stdout, stderr } = await list([A, form]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout.match(/\bf\d+\.htm\b/g)?.join() === names.join()).toBe(true);
  });
});

describe('--input', () => {
  it('is read by line, and an invalid line is one failure that does not stop the run', async () => {
    const { list, asked } = await service(by({ [A]: ['a.htm'], [B]: ['b.htm'] }));
    const input = `# both\r\n\r\n${A}\r\n${A}\tother.htm\nnonsense\n{"accession_no":"${B}","file_name":null}`;
    const { stdout, stderr, exitCode } = await list(['--input', '-'], { input });
    expect([exitCode, stdout, asked().length]).toEqual([3, `${A}\ta.htm\n${B}\tb.htm\n`, 2]);
    expect(stderr).toMatch(
      /^filings: line 5: 'nonsense' is not an accession number\n {2}hint: .*\nfilings: 1 of 3 filings failed/,
    );
  });

  it('may be stdin if the config file is a FIFO', async () => {
    const { at, list } = await service(by({ [A]: ['a.htm'] }));
    await promisify(execFile)('mkfifo', ['-m', '600', at('config')]);
    const written = promisify(execFile)('sh', ['-c', `echo '{"retries":3}' > "$0"`, at('config')]);
    const ended = await list(['-i', '-', '--config', 'config'], { input: A });
    expect(ended).toMatchObject({ stdout: `${A}\ta.htm\n`, exitCode: 0 });
    await written;
  });
});

describe('a listing of several pages', () => {
  const paged: Answer = (accession, { page_size: size = '20', page_number: page = '1' }) => {
    const all = Array.from({ length: 23 }, (_, i) => ({ accession_no: accession, file_name: `f${i}.htm` }));
    const end = Number(page) * Number(size);
    return { data: all.slice(end - Number(size), end), ...(accession === B && { has_more: end < 23 }) };
  };

  it('is read page by page if it may be a first page', async () => {
    const { list, asked } = await service(paged);
    const { stdout, exitCode } = await list([A, '--query', 'x=y']);
    expect([linesOf(stdout).length, exitCode]).toEqual([23, 0]);
    const first = `/v1/filings?accession_no=${A}&x=y`;
    const pages = [2, 1, 0, 3].map((number) => `${first}&page_size=20&page_number=${number}`);
    expect(asked()).toEqual([first, ...pages]);
  });

  it('is an error if the response says that there is more, and is read with --page-size', async () => {
    const { list } = await service(paged);
    const part = await list([B]);
    expect([part.stdout, part.exitCode]).toEqual(['', 9]);
    expect(part.stderr).toMatch(
      /incomplete: 20 records came, but 'has_more' says that there is more\n {2}hint: .*--page-size 100/,
    );
    const whole = await list([B, '--page-size', '10']);
    expect([linesOf(whole.stdout).length, whole.exitCode]).toEqual([23, 0]);
  });

  it('is read as the config file describes it', async () => {
    const all = Array.from({ length: 23 }, (_, i) => ({ doc: { title: `f${i}.htm` }, kind: 'x' }));
    const { list, config, asked } = await service((_accession, { limit = '20', offset = '0' }) => ({
      body: { rows: all.slice(Number(offset) * Number(limit)).slice(0, Number(limit)), all: all.length },
    }));
    const path = await config({
      listing: {
        files: 'body.rows',
        name: 'doc.title',
        total: 'body.all',
        pageSize: 'limit',
        pageNumber: 'offset',
        firstPage: 0,
      },
    });
    const part = await list([A, '--config', path]);
    expect([part.stdout, part.exitCode]).toEqual(['', 9]);
    expect(part.stderr).toContain('incomplete: 20 records came, but a total of 23 says otherwise\n  hint: ');
    const whole = await list([A, '--config', path, '--page-size', '10', '--json']);
    expect([linesOf(whole.stdout).length, whole.exitCode]).toEqual([23, 0]);
    expect(jsonOf(whole.stdout)[22]).toEqual({
      accession_no: A,
      file_name: 'f22.htm',
      doc: { title: 'f22.htm' },
      kind: 'x',
    });
    expect(asked().slice(1)).toEqual([0, 1, 2].map((page) => `/v1/filings?accession_no=${A}&limit=10&offset=${page}`));
  });
});

describe('the exit status', () => {
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  it.each<[exit: number, message: string, body: unknown, args?: string[]]>([
    [5, `${A}: the service lists no files`, []],
    [5, 'lists no files', [{ accession_no: B, name: 'b' }]],
    [5, `${A}: its one file does not match --include`, ['a.htm'], ['--include', '*.xml']],
    [5, `the listing of ${A}: 404 Not Found: No ${A}`, 404],
    [4, '401 Unauthorized', 401],
    [4, '403 Forbidden', 403],
    [6, '400 Bad Request', 400],
    [9, 'cannot be read: it is an HTML page: Sign in', '<!doctype html><title>Sign in</title>'],
    [9, `'Link: rel="next"' says that there is more`, ok('["a.htm"]', { Link: '</2>; rel="next"' })],
    [9, 'invalid response: 200 with Content-Range\n', ok('["a.htm"]', { 'Content-Range': 'bytes 0-8/100' })],
    [9, 'larger than 16777216 bytes, the most that is read\n', ok('[', { 'Content-Length': 60_000_000 })],
    [9, 'it is JSON nested more than 100 levels deep\n', `[{"name":"a.htm","deep":${deep(100_000)}}]`],
    [
      9,
      "is not certain to be complete: 'data.data.data.data.data.data.data.data.data.data' has 20001 records and no file name\n",
      `${'{"data":'.repeat(10)}[${'{},'.repeat(20_000)}{}]${'}'.repeat(10)}`,
    ],
  ])('is %i: %s', async (exit, message, body, args = []) => {
    const { list } = await service(by({ [A]: body }));
    const { stdout, stderr, exitCode } = await list([A, ...args]);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: exit });
    expect(stderr).toMatch(/^filings: /);
    expect(stderr).toContain(message);
  });

  it.each<[what: string, bodies: Record<string, unknown>, exit: number, asked: number]>([
    ['a permanent error', { [A]: ['a'], [B]: 404, [C]: ['c'] }, 3, 3],
    ['a 403 for one filing', { [A]: ['a'], [B]: 403, [C]: ['c'] }, 3, 3],
    ['temporary errors', { [A]: 503, [B]: ['b'], [C]: 501 }, 7, 3],
    ['a temporary and a permanent error', { [A]: 503, [B]: 404, [C]: ['c'] }, 3, 3],
    ['a 401', { [A]: ['a'], [B]: 401, [C]: ['c'] }, 4, 2],
    ['a 401 after a permanent error', { [A]: 404, [B]: 401, [C]: ['c'] }, 4, 2],
  ])('of several filings with %s', async (_what, bodies, exit, requests) => {
    const { list, asked } = await service(by(bodies));
    const { exitCode } = await list([A, B, C, '--retries', '0', '--jobs', '1']);
    expect([exitCode, asked().length]).toEqual([exit, requests]);
  });

  it.each<[what: string, args: string[], rest: string]>([
    ['the arguments', [A, B, C], '2 filings'],
    ['the input', ['-i', '-'], 'the rest'],
  ])('is 7 at the deadline although a filing failed, and the rest of %s is reported', async (_, args, rest) => {
    let passed = () => {};
    const deadline = new Promise<void>((resolve) => {
      passed = resolve;
    });
    const { list } = await service((accession) => {
      if (accession === A) return head(404, { 'Content-Length': 0 });
      setTimeout(passed, 20);
      return new Promise(() => {});
    });
    const { stderr, exitCode } = await list([...args, '--deadline', '1h', '--jobs', '1'], {
      input: `${A}\n${B}\n${C}\n`,
      sleep: (ms, signal) => (ms === 3_600_000 ? deadline : sleep(ms, signal)),
    });
    expect(exitCode, stderr).toBe(7);
    expect(stderr).toMatch(/^filings: the listing of 0001234567-24-000001: 404 /);
    expect(stderr).toMatch(new RegExp(`deadline of 3600 s .*; ${rest} not started\n`));
  });

  it('is 7 after ten refused connections in a row', async () => {
    const { filings } = await workplace();
    const input = Array.from({ length: 15 }, (_, i) => `0001234567-24-0000${10 + i}`).join('\n');
    const args = ['list', '-i', '-', '--retries', '0'];
    const { stderr, exitCode } = await filings(args, serviceAt('http://127.0.0.1:1'), { input });
    expect([exitCode, stderr.match(/^filings: the listing of|^filings: .*127/gm)?.length]).toEqual([7, 10]);
  });

  it.each<[message: RegExp, args: string[]]>([
    [/no ACCESSION/, []],
    [/is not an accession number\n {2}hint: did you mean 0001234567-24-000001\?/, ['0001234567-24000001']],
    ...['=x', 'accession_no=x', 'page_size=5', 'Page_Number=5'].map((query): [RegExp, string[]] => [
      /--query: must be NAME=VALUE, such as form=10-K; .*page_size and page_number by --page-size N\n/,
      [A, '--query', query],
    ]),
    [/--page-size/, [A, '--page-size', '0']],
    [/--include '': it is empty/, [A, '--include', '']],
    [/--input \/nonexistent\/input: no such file/, [A, '-i', '/nonexistent/input']],
    [/cannot both read stdin/, [A, '-i', '-', '--api-key-file', '-']],
  ])('is 2: %s', async (message, args) => {
    const { list, asked } = await service(by({}));
    const { stderr, exitCode } = await list(args);
    expect(stderr).toMatch(message);
    expect([exitCode, asked()]).toEqual([2, []]);
  });
});

it('--error-format json prints each error as a JSON line, the one that ends the run last', async () => {
  const { list } = await service(by({ [A]: 404, [B]: [], [C]: ['c'] }));
  const { stderr, exitCode } = await list([A, B, C, '--error-format', 'json']);
  expect(exitCode).toBe(3);
  expect(jsonOf(stderr)).toMatchObject([
    { error: { code: 'not_found', exit_code: 5, problem: { status: 404, title: `No ${A}` } } },
    { error: { code: 'not_found', message: `the listing of ${B}: the service lists no files` } },
    { error: { code: 'partial', exit_code: 3 } },
  ]);
});

it('requests as many listings at a time as --jobs says, and prints them in input order', async () => {
  const accessions = Array.from({ length: 8 }, (_, n) => `0001234567-24-00001${n}`);
  const waiting: (() => void)[] = [];
  let most = 0;
  const { list } = await service(async (accession) => {
    await new Promise<void>((answer) => {
      waiting.push(answer);
      most = Math.max(most, waiting.length);
      // The last of four waiting requests is answered first.
      if (waiting.length === 4) for (const each of waiting.splice(0).reverse()) each();
    });
    return [`${accession.slice(-1)}.htm`];
  });
  const { stdout, exitCode } = await list([...accessions, '--jobs', '4']);
  expect({ exitCode, most }).toEqual({ exitCode: 0, most: 4 });
  expect(linesOf(stdout)).toEqual(accessions.map((one) => `${one}\t${one.slice(-1)}.htm`));
});
