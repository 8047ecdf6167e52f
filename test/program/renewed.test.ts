// A key or a token whose file is replaced during a run, as by Kubernetes or a cron job.
import { execFileSync } from 'node:child_process';
import { rename, rm, symlink } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { head } from '../servers/answers.ts';
import { accession, startArchive } from '../servers/archive.ts';
import { type Script, type SeenRequest, scripted } from '../servers/scripted.ts';
import { expectClear } from './clear.ts';
import { ACCESSION, asking, jsonOf, serviceAt, type Workplace, workplace } from './run.ts';

const OLD = 'old-key-1234';
const NEW = 'new-key-5678';
const tokenOf = (claims: object) =>
  `eyJhbGciOiJIUzI1NiJ9.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2lnbmF0dXJl`;
const KEY_FILE = ['--api-key-file', 'key', '-v'];
const answer = (status: number, body = '', fields = {}) =>
  head(status, { 'Content-Length': body.length, ...fields }) + body;

/** The key and the token of a request, wherever they are. */
const sentIn = ({ path, headers }: SeenRequest) => {
  const key = headers['x-service-key'] ?? new URL(path, 'http://h').searchParams.get('apikey');
  return [key ?? headers.authorization, headers.authorization?.replace(/^Bearer /, '')];
};

/** A workplace whose file `key` has the old key. `ask` runs a command with that key. */
async function holding(script: Script) {
  const { filings, ...place } = await asking(script);
  await place.write('key', OLD);
  const ask = (...args: string[]) => filings([...args, ...KEY_FILE], { FILINGS_API_KEY: '' });
  return { ...place, ask, list: () => ask('list', ACCESSION) };
}
type Holding = Awaited<ReturnType<typeof holding>>;

/** As Kubernetes replaces the files of a mounted secret: `NAME` is a link to `..data/NAME`, and `..data` another link. */
async function mountSecret({ at, write }: Workplace, version: string, files: Record<string, string>) {
  for (const [name, text] of Object.entries(files)) {
    await write(`${version}/${name}`, text);
    await symlink(`..data/${name}`, at(name)).catch(() => {});
  }
  await symlink(version, at('..new'));
  await rename(at('..new'), at('..data'));
}

const JOBS = 4;
const [oldToken, newToken] = [tokenOf({ sub: 'old' }), tokenOf({ sub: 'new' })];
test.each`
  what                  | flags                                                                    | before                           | after
  ${'a key'}            | ${['--api-key-file', 'key', '--key-in', 'header']}                       | ${{ key: OLD }}                  | ${{ key: NEW }}
  ${'a key in the URL'} | ${['--api-key-file', 'key', '--key-in', 'query']}                        | ${{ key: OLD }}                  | ${{ key: NEW }}
  ${'a token'}          | ${['--api-key', OLD, '--jwt-file', 'token']}                             | ${{ token: oldToken }}           | ${{ token: newToken }}
  ${'both'}             | ${['--api-key-file', 'key', '--jwt-file', 'token', '--key-in', 'query']} | ${{ key: OLD, token: oldToken }} | ${{ key: NEW, token: newToken }}
`('a batch goes on with $what that is new, and repeats what was rejected once', async ({ flags, before, after }) => {
  const place = await workplace();
  await mountSecret(place, 'v1', before);
  let valid = [before.key ?? OLD, before.token];
  const held: (() => void)[] = [];
  let isRenewed = false;
  const filings = Object.fromEntries(
    [1, 2, 3, 4, 5, 6].map((n) => [accession(n), { 'a.htm': `${n}`, 'b.htm': `${n}`, 'c.htm': `${n}` }]),
  );
  const { url, asked } = await startArchive(filings, {
    instead(socket, { accession: number, name, before: earlier, request }) {
      // A redirect of the same origin, which repeats the key if it is in the URL.
      if (name === 'a.htm' && earlier === 0)
        return socket.write(answer(302, '', { Location: `${request.path}&redirected` })) || true;
      const [key, token] = sentIn(request);
      if (key === valid[0] && (valid[1] === undefined || token === valid[1])) {
        if (number !== accession(3) || name !== 'b.htm' || earlier > 0) return false;
        valid = [after.key ?? OLD, after.token];
      }
      const reject = () => void socket.write(answer(401));
      held.push(reject);
      // All jobs are rejected at the same time.
      if (held.length === JOBS)
        void mountSecret(place, 'v2', after).then(() => {
          isRenewed = true;
          for (const each of held) each();
        });
      else if (isRenewed) reject();
      return true;
    },
  });
  await place.write('input', Object.keys(filings).join('\n'));
  const args = ['download', '-i', 'input', '--all', '-j', `${JOBS}`, '-v', '--report', 'report'];
  const env = { FILINGS_BASE_URL: url, FILINGS_KEY_IN: '' };
  const { exitCode, stderr } = await place.filings([...args, ...flags], env);
  expect(exitCode, stderr).toBe(0);
  const { summary } = jsonOf(await place.read('report')).at(-1);
  expect(summary).toMatchObject({ downloaded: 18, failed: 0, retries: 0, requests: asked().length });
  expect(stderr.match(/has changed: repeating/g)).toHaveLength(held.length);
  expectClear([OLD, NEW, oldToken, newToken], stderr, await place.read('report'));
});

test('a request whose redirect repeats the old key begins again with the new one', async () => {
  let redirect = () => {};
  const place: Holding = await holding(async (socket, request) => {
    const { searchParams } = new URL(request.path, 'http://h');
    const isNew = searchParams.get('apikey') === NEW;
    if (isNew) socket.write(answer(200, 'x'));
    else if (searchParams.has('redirected')) socket.write(answer(401));
    else if (searchParams.get('file_name') === 'a.htm')
      redirect = () => void socket.write(answer(302, '', { Location: `${request.path}&redirected` }));
    else {
      await place.write('key', NEW);
      socket.write(answer(401));
    }
    // The other file was rejected, and has renewed the key.
    if (isNew) redirect();
  });
  const { exitCode, stderr } = await place.ask('download', ACCESSION, 'a.htm', 'b.htm', '--key-in', 'query');
  expect([exitCode, place.requests.length], stderr).toEqual([0, 5]);
  for (const { path } of place.requests) expect(new URL(path, place.url).searchParams.getAll('apikey')).toHaveLength(1);
});

test('a request that begins again may be redirected as often as before', async () => {
  const place: Holding = await holding(async (socket, request) => {
    const isNew = sentIn(request)[0] === NEW;
    if (request.path.split('&hop').length <= 5) socket.write(answer(302, '', { Location: `${request.path}&hop` }));
    else if (isNew) socket.write(answer(200, '["a.htm"]'));
    else {
      await place.write('key', NEW);
      socket.write(answer(401));
    }
  });
  const { exitCode, stderr } = await place.list();
  expect([exitCode, place.requests.length], stderr).toEqual([0, 12]);
});

describe('the 401 stands', () => {
  const write = (text: string, mode?: number) => (place: Holding) => place.write('key', text, mode);
  test.each`
    what                                         | change                                                                                       | requests
    ${'if the file has the same key'}            | ${write(`${OLD}\n`)}                                                                         | ${1}
    ${'if the file is missing'}                  | ${({ at }: Holding) => rm(at('key'))}                                                        | ${1}
    ${'if the file is empty'}                    | ${write('')}                                                                                 | ${1}
    ${'if others can write the file'}            | ${write(NEW, 0o666)}                                                                         | ${1}
    ${'if the new key cannot be sent'}           | ${write('new\tkey')}                                                                         | ${1}
    ${'if the file is a FIFO'}                   | ${({ at }: Holding) => execFileSync('sh', ['-c', 'rm "$0"; mkfifo -m 600 "$0"', at('key')])} | ${1}
    ${'if the service rejects the new key, too'} | ${write(NEW)}                                                                                | ${2}
  `('$what', async ({ change, requests }) => {
    const place: Holding = await holding(async (socket) => {
      await change(place);
      socket.write(answer(401));
    });
    const { exitCode, stderr } = await place.list();
    expect([exitCode, place.requests.length], stderr).toEqual([4, requests]);
    expect(stderr).toMatch(/401 Unauthorized\n {2}hint: check the API key from --api-key-file, how it is sent/);
    expectClear([OLD, NEW, 'new\tkey'], stderr);
  });

  test('even if the key is renewed again before the request was repeated', async () => {
    const place: Holding = await holding(async (socket, { index }) => {
      await place.write('key', `${NEW}-${index}`);
      socket.write(answer(401));
    });
    expect([(await place.list()).exitCode, place.requests.length]).toEqual([4, 2]);
  });

  test('if it is that of another host, which got no key', async () => {
    const other = await scripted(async (socket) => {
      await place.write('key', NEW);
      socket.write(answer(401));
    });
    const place = await holding((socket) => void socket.write(answer(302, '', { Location: other.url })));
    expect([(await place.list()).exitCode, other.requests.length]).toEqual([4, 1]);
  });
});

describe('a token that has expired', () => {
  const token = (exp: number) => tokenOf({ exp: Math.floor(Date.now() / 1000) + exp });
  const ok: Script = (socket) => void socket.write(answer(200, '["a.htm"]'));

  test('is replaced by the one that is in its file by then', async () => {
    const place = await workplace();
    const [first, second] = [token(60), token(3600)];
    await place.write('token', first);
    const expiresAt = JSON.parse(`${Buffer.from(first.split('.')[1] ?? '', 'base64url')}`).exp * 1000;
    let ahead = () => 0;
    const server = await scripted(async (socket, request) => {
      await place.write('token', second);
      // The very moment at which it expires.
      ahead = () => expiresAt - Date.now();
      ok(socket, request);
    });
    const args = ['list', ACCESSION, accession(2), accession(3), '--jwt-file', 'token', '-j', '1', '-v'];
    const { exitCode, stderr } = await place.filings(args, serviceAt(server.url), { ahead: () => ahead() });
    expect(exitCode, stderr).toBe(0);
    expect(server.requests.map((request) => sentIn(request)[1])).toEqual([first, second, second]);
    expectClear([first, second], stderr);
  });

  test.each([
    { what: 'the same', change: (place: Workplace) => place.names() },
    { what: 'no', change: ({ at }: Workplace) => rm(at('token')) },
    { what: 'an expired', change: ({ write }: Workplace) => write('token', token(30)) },
  ])('is an error if its file has $what token by then', async ({ change }) => {
    const place = await workplace();
    await place.write('token', token(60));
    let ahead = 0;
    const { url, requests } = await scripted(async (socket, request) => {
      await change(place);
      ahead = 180_000;
      ok(socket, request);
    });
    const args = ['list', ACCESSION, accession(2), '--jwt-file', 'token', '-j', '1'];
    const { exitCode, stderr } = await place.filings(args, serviceAt(url), { ahead: () => ahead });
    expect([exitCode, requests.length], stderr).toEqual([4, 1]);
    expect(stderr).toMatch(/--jwt-file: the JWT expired .* ago\n {2}hint: .*date -u/);
  });
});
