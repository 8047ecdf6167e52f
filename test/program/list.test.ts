import { describe, expect, test } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { type Fields, head } from '../servers/answers.ts';
import { asking, jsonOf, linesOf, type RunOptions } from './run.ts';

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
    filings,
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
  test.each<{ what: string; args: string[]; stdout: string; bodies: Record<string, unknown> }>([
    { what: 'one name per line', args: [A], stdout: 'a.htm\nex99.htm\n', bodies: { [A]: FILES } },
    {
      what: 'escaped names',
      args: [A],
      stdout: 'a\\x1b\\n\\u202e.htm\n',
      bodies: { [A]: ['a\x1b\n\u202e.htm'] },
    },
    {
      what: 'filing and name for several filings',
      args: [A, C],
      stdout: `${A}\ta.htm\n${C}\tc.htm\n`,
      bodies: { [A]: ['a.htm'], [C]: ['c.htm'] },
    },
    {
      what: 'the exact names with -0',
      args: [A, '-0'],
      stdout: 'a\x1b.htm\0b\n.htm\0c\\x00d\0',
      bodies: { [A]: ['a\x1b.htm', 'b\n.htm', 'c\0d'] },
    },
    {
      what: 'one table for several filings with -l',
      args: [B, A, '-l', '--include', 'a*'],
      stdout: `ACCESSION             NAME            SIZE  TYPE       DESCRIPTION\n${B}  a-longer.htm\n${A}  a.htm         1.2 kB  text/html  The report\n`,
      bodies: { [A]: FILES, [B]: ['a-longer.htm'] },
    },
    {
      what: 'JSON Lines',
      args: [B, '--json'],
      stdout: `{"accession_no":"${B}","file_name":"b\\u202e.htm"}\n`,
      bodies: { [B]: ['b\u202e.htm'] },
    },
  ])('is $what', async ({ args, stdout, bodies }) => {
    const { list } = await service(by(bodies));
    expect(await list(args)).toEqual({ stdout, stderr: '', exitCode: 0 });
  });

  test('reports filings without a match on stderr', async () => {
    const { list } = await service(by({ [A]: ['a.htm'], [B]: [], [C]: ['c.htm'] }));
    expect(await list([A, B, C])).toMatchObject({
      stdout: `${A}\ta.htm\n${C}\tc.htm\n`,
      stderr: expect.stringMatching(
        /^filings: the listing of 0001234567-24-000002: there is no such filing, or it has no files\n/,
      ),
      exitCode: 3,
    });
    expect(await list([A, C, '--include', 'a*'])).toMatchObject({
      stdout: `${A}\ta.htm\n`,
      stderr: `${C}: its one file does not match --include and --exclude (matching is case-sensitive)\n`,
      exitCode: 0,
    });
  });

  test('is JSON Lines with all members of the service, and --input accepts it', async () => {
    const { list } = await service(by({ [A]: FILES }));
    const { stdout } = await list([A, '--json']);
    expect(jsonOf(stdout)).toEqual([FILES[0], FILES[2]]);
    expect((await list(['-i', '-'], { input: stdout })).stdout).toBe(`${A}\ta.htm\n${A}\tex99.htm\n`);
  });

  test('has the files that match the patterns, and the request has the parameters of --query', async () => {
    const { list, asked } = await service(by({ [A]: ['a.htm', 'a.xml', 'b.htm', 'A.HTM'] }));
    const globs = ['--include', 'a.*', '--include', 'b*', '--exclude', '*.xml'];
    const { stdout } = await list([A, ...globs, '--query', 'form=8-K', '--query', 'q=a=b&c']);
    expect(stdout).toBe('a.htm\nb.htm\n');
    expect(asked()).toEqual([`/v1/filings?accession_no=${A}&form=8-K&q=a%3Db%26c`]);
  });

  test.each(['--json', '-l', '-0'])('is complete for 150,000 files with %s', async (form) => {
    // More names than a function call takes as arguments.
    const names = Array.from({ length: 150_000 }, (_, i) => `f${i}.htm`);
    const { list } = await service(() => names);
    const { exitCode, stdout, stderr } = await list([A, form]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout.match(/\bf\d+\.htm\b/g)?.join() === names.join()).toBe(true);
  });
});

describe('--input', () => {
  test('is read by line, and an invalid line is one failure that does not stop the run', async () => {
    const { list, asked } = await service(by({ [A]: ['a.htm'], [B]: ['b.htm'] }));
    const input = `# both\r\n\r\n${A}\r\n${A}\tother.htm\nnonsense\n{"accession_no":"${B}","file_name":null}`;
    const { stdout, stderr, exitCode } = await list(['--input', '-'], { input });
    expect([exitCode, stdout, asked().length]).toEqual([3, `${A}\ta.htm\n${B}\tb.htm\n`, 2]);
    expect(stderr).toMatch(
      /^filings: line 5: 'nonsense' is not an accession number\n {2}hint: .*\nfilings: 1 of 3 filings failed/,
    );
  });
});

describe('a described listing', () => {
  test('is what the commands of the hint describe, when they are pasted', async () => {
    const rows = (from: number) => [0, 1].map((n) => ({ doc: { name: `f${from + n}.htm` }, tags: ['x'] }));
    const { list, filings, asked } = await service((_accession, { offset = '0' }) => ({
      body: { rows: rows(Number(offset)).slice(0, 5 - Number(offset)), all: 5 },
    }));
    const refused = await list([A]);
    expect([refused.stdout, refused.exitCode]).toEqual(['', 9]);
    expect(refused.stderr).toContain('the response has no list of files: {"body":');
    const [, commands = ''] = /describe the listing: (.*)\n$/.exec(refused.stderr) ?? [];
    const described = [...commands.split(' && '), 'filings config set listing.total body.all'];
    for (const command of described) expect(await filings(command.split(' ').slice(1))).toMatchObject({ exitCode: 0 });
    const part = await list([A]);
    expect([part.stdout, part.exitCode]).toEqual(['', 9]);
    expect(part.stderr).toContain('may be incomplete: it has 2 records, but its total is 5\n');
    expect((await filings(['config', 'set', 'listing.offset', 'offset'])).exitCode).toBe(0);
    const whole = await list([A, '--json', '--query', 'x=y z']);
    expect([linesOf(whole.stdout).length, whole.exitCode]).toEqual([5, 0]);
    expect(jsonOf(whole.stdout)[4]).toEqual({
      accession_no: A,
      file_name: 'f4.htm',
      doc: { name: 'f4.htm' },
      tags: ['x'],
    });
    expect(asked().slice(-3)).toEqual([0, 2, 4].map((n) => `/v1/filings?accession_no=${A}&x=y%20z&offset=${n}`));
  });
});

describe('the exit status', () => {
  test.each<{ exit: number; message: string; body: unknown; args?: string[] }>([
    { exit: 5, message: `${A}: there is no such filing, or it has no files`, body: [] },
    { exit: 5, message: 'sent 1 record without a name or of another', body: [{ accession: B, filename: 'b' }] },
    { exit: 5, message: `${A}: its one file does not match --include`, body: ['a.htm'], args: ['--include', '*.xml'] },
    { exit: 5, message: `the listing of ${A}: 404 Not Found: No ${A}`, body: 404 },
    { exit: 9, message: 'the response is not JSON: <title>Sign in', body: '<title>Sign in</title>' },
    { exit: 9, message: 'Link field names a next page', body: ok('["a.htm"]', { Link: '</2>; rel="next"' }) },
    { exit: 9, message: 'the most that is read\n', body: ok('[', { 'Content-Length': 60_000_000 }) },
  ])('is $exit: $message', async ({ exit, message, body, args = [] }) => {
    const { list } = await service(by({ [A]: body }));
    const { stdout, stderr, exitCode } = await list([A, ...args]);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: exit });
    expect(stderr).toMatch(/^filings: /);
    expect(stderr).toContain(message);
  });

  test('is that of an error that stops the run, although another filing failed permanently before', async () => {
    const { list, asked } = await service(by({ [A]: 404, [B]: 401, [C]: ['c'] }));
    const { exitCode } = await list([A, B, C, '--jobs', '1']);
    expect([exitCode, asked().length]).toEqual([4, 2]);
  });

  test.each<{ what: string; args: string[]; rest: string }>([
    { what: 'the arguments', args: [A, B, C], rest: '2 filings' },
    { what: 'the input', args: ['-i', '-'], rest: 'the rest' },
  ])('is 7 at the deadline although a filing failed, and the rest of $what is reported', async ({ args, rest }) => {
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

  test.each<{ message: string; args: string[] }>([
    { message: 'no ACCESSION', args: [] },
    { message: `is not an accession number\n  hint: did you mean ${A}?`, args: ['0001234567-24000001'] },
    { message: '--query: must be NAME=VALUE, such as form=10-K; accession_no is', args: [A, '--query', '=x'] },
    { message: '--query: must be NAME=VALUE', args: [A, '--query', 'accession_no=x'] },
    { message: 'cannot both read stdin', args: [A, '-i', '-', '--api-key-file', '-'] },
  ])('is 2: $message', async ({ message, args }) => {
    const { list, asked } = await service(by({}));
    const { stderr, exitCode } = await list(args);
    expect(stderr).toContain(message);
    expect([exitCode, asked()]).toEqual([2, []]);
  });
});

test('--error-format json prints each error as a JSON line, the one that ends the run last', async () => {
  const { list } = await service(by({ [A]: 404, [B]: [], [C]: ['c'] }));
  const { stderr, exitCode } = await list([A, B, C, '--error-format', 'json']);
  expect(exitCode).toBe(3);
  expect(jsonOf(stderr)).toMatchObject([
    { error: { code: 'not_found', exit_code: 5, problem: { status: 404, title: `No ${A}` } } },
    { error: { code: 'not_found', message: `the listing of ${B}: there is no such filing, or it has no files` } },
    { error: { code: 'partial', exit_code: 3 } },
  ]);
});

test('requests as many listings at a time as --jobs says, and prints them in input order', async () => {
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
