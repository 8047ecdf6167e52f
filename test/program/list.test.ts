import { EventEmitter, once } from 'node:events';
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

const REPORT = { accession_no: A, file_name: 'a.htm', size: 1234, type: 'text/html', description: 'The report' };
const EXHIBIT = { accession_no: A, file_name: 'ex99.htm', size: 99 };
const FILES = [REPORT, { accession_no: B, file_name: 'not-ours.htm' }, EXHIBIT];

describe('the output of filings list', () => {
  const TABLE = `\
ACCESSION             NAME            SIZE  TYPE       DESCRIPTION
${B}  a-longer.htm
${A}  a.htm         1.2 kB  text/html  The report
`;
  test.each`
    what                               | args            | bodies                                      | stdout
    ${'one name per line'}             | ${[A]}          | ${{ [A]: FILES }}                           | ${'a.htm\nex99.htm\n'}
    ${'escaped names'}                 | ${[A]}          | ${{ [A]: ['a\x1b\n\u202e.htm'] }}           | ${'a\\x1b\\n\\u202e.htm\n'}
    ${'filing and name for several'}   | ${[A, C]}       | ${{ [A]: ['a.htm'], [C]: ['c.htm'] }}       | ${`${A}\ta.htm\n${C}\tc.htm\n`}
    ${'the exact names with -0'}       | ${[A, '-0']}    | ${{ [A]: ['a\x1b', 'b\n', 'c\0d'] }}        | ${'a\x1b\0b\n\0c\\x00d\0'}
    ${'one table for several with -l'} | ${[B, A, '-l']} | ${{ [A]: [REPORT], [B]: ['a-longer.htm'] }} | ${TABLE}
  `('is $what', async ({ args, bodies, stdout }) => {
    const { list } = await service(by(bodies));
    expect(await list(args)).toEqual({ stdout, stderr: '', exitCode: 0 });
  });

  test('reports filings without a match on stderr', async () => {
    const { list } = await service(by({ [A]: ['a.htm'], [B]: [], [C]: ['c.htm'] }));
    const listed = { stdout: `${A}\ta.htm\n${C}\tc.htm\n`, exitCode: 3 };
    expect(await list([A, B, C])).toMatchObject({ ...listed, stderr: expect.stringContaining(`listing of ${B}: `) });
    const stderr = `${C}: its only file does not match (--include and --exclude are case-sensitive)\n`;
    expect(await list([A, C, '--include', 'a*'])).toEqual({ stdout: `${A}\ta.htm\n`, stderr, exitCode: 0 });
  });

  test('has all members of the service in JSON, and --input accepts it', async () => {
    const { list } = await service(by({ [A]: FILES, [B]: ['b\u202e'] }));
    expect((await list([B, '--json'])).stdout).toBe(`{"accession_no":"${B}","file_name":"b\\u202e"}\n`);
    const { stdout } = await list([A, '--json']);
    expect(jsonOf(stdout)).toEqual([REPORT, EXHIBIT]);
    expect((await list(['-i', '-'], { input: stdout })).stdout).toBe(`${A}\ta.htm\n${A}\tex99.htm\n`);
  });

  test('has the files that match the patterns, and the request has the parameters of --query', async () => {
    const { list, asked } = await service(by({ [A]: ['a.htm', 'a.xml', 'b.htm', 'A.HTM'] }));
    const globs = ['--include', 'a.*', '--include', 'b*', '--exclude', '*.xml'];
    const { stdout } = await list([A, ...globs, '--query', 'form=8-K', '--query', 'q=a=b&c']);
    expect([stdout, ...asked()]).toEqual(['a.htm\nb.htm\n', `/v1/filings?accession_no=${A}&form=8-K&q=a%3Db%26c`]);
  });

  test('is complete with more files than a function call takes as arguments', async () => {
    const names = Array.from({ length: 150_000 }, (_, i) => `f${i}.htm`);
    const { list } = await service(() => names);
    const { exitCode, stdout } = await list([A, '-l']);
    expect([exitCode, stdout === ['NAME', ...names, ''].join('\n')]).toEqual([0, true]);
  });

  test('has the filings in the order of the input, although --jobs of them are requested at a time', async () => {
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
    expect([exitCode, most]).toEqual([0, 4]);
    expect(linesOf(stdout)).toEqual(accessions.map((one) => `${one}\t${one.slice(-1)}.htm`));
  });
});

test('--input is read by line, and an invalid line is one failure that does not stop the run', async () => {
  const { list, asked } = await service(by({ [A]: ['a.htm'], [B]: ['b.htm'] }));
  const input = `# both\r\n\r\n${A}\r\n${A}\tother.htm\nnonsense\n{"accession_no":"${B}","file_name":null}`;
  const { stdout, stderr, exitCode } = await list(['--input', '-'], { input });
  expect([exitCode, stdout, asked().length]).toEqual([3, `${A}\ta.htm\n${B}\tb.htm\n`, 2]);
  expect(stderr).toMatch(/^filings: line 5: 'nonsense' .*\n {2}hint: .*\nfilings: 1 of 3 filings failed/);
});

describe('the exit status', () => {
  test.each`
    exit | body                                             | args                      | message
    ${5} | ${[]}                                            | ${[]}                     | ${`${A}: there is no such filing`}
    ${5} | ${[{ accession: B, filename: 'b' }]}             | ${[]}                     | ${'sent 1 record without a name or of another'}
    ${5} | ${['a.htm']}                                     | ${['--include', '*.xml']} | ${`${A}: its only file does not match`}
    ${5} | ${404}                                           | ${[]}                     | ${`the listing of ${A}: 404 `}
    ${9} | ${ok('["a.htm"]', { Link: '</2>; rel="next"' })} | ${[]}                     | ${'may be incomplete'}
    ${9} | ${ok('[', { 'Content-Length': 60_000_000 })}     | ${[]}                     | ${'the limit of 17 MB\n'}
  `('is $exit, and nothing is listed: $message', async ({ exit, body, args, message }) => {
    const { list } = await service(by({ [A]: body }));
    const { stdout, stderr, exitCode } = await list([A, ...args]);
    expect([stdout, exitCode]).toEqual(['', exit]);
    expect(stderr).toContain(message);
  });

  test('is that of an error that stops the run, although another filing failed permanently before', async () => {
    const { list, asked } = await service(by({ [A]: 404, [B]: 401, [C]: ['c'] }));
    const { exitCode } = await list([A, B, C, '--jobs', '1']);
    expect([exitCode, asked().length]).toEqual([4, 2]);
  });

  test.each`
    from               | args           | rest
    ${'the arguments'} | ${[A, B, C]}   | ${'2 filings'}
    ${'an input'}      | ${['-i', '-']} | ${'the rest'}
  `('is 7 at the deadline although a filing of $from failed, and $rest is reported', async ({ args, rest }) => {
    const deadline = new EventEmitter();
    const { list } = await service((accession) => {
      if (accession === A) return head(404, { 'Content-Length': 0 });
      deadline.emit('pass');
      return new Promise(() => {});
    });
    const { stderr, exitCode } = await list([...args, '--deadline', '1h', '--jobs', '1'], {
      input: `${A}\n${B}\n${C}\n`,
      sleep: (ms, signal) => (ms === 3_600_000 ? once(deadline, 'pass').then(() => {}) : sleep(ms, signal)),
    });
    expect(exitCode, stderr).toBe(7);
    expect(stderr).toMatch(new RegExp(`^filings: the listing of ${A}: 404 [\\s\\S]*; ${rest} not started\n`));
  });

  test.each`
    args                                      | message
    ${[]}                                     | ${'no ACCESSION'}
    ${['0001234567-24000001']}                | ${`is not an accession number\n  hint: did you mean ${A}?`}
    ${[A, '--include', 'ex1.htm', 'ex2.htm']} | ${'hint: quote the pattern'}
    ${[A, '--query', '=x']}                   | ${'--query: must be NAME=VALUE, such as form=10-K; accession_no is'}
    ${[A, '--query', 'ACCESSION_NO=x']}       | ${'--query: must be NAME=VALUE, such as form=10-K; accession_no is'}
    ${[A, '-i', '-', '--api-key-file', '-']}  | ${'cannot both read stdin'}
  `('is 2 without a request: $args', async ({ args, message }) => {
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
    { error: { code: 'not_found', exit_code: 5 } },
    { error: { code: 'partial', exit_code: 3 } },
  ]);
});
