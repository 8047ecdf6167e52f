import { expect } from 'vitest';
import { head } from '../servers/answers.ts';
import { ACCESSION, asking, linesOf, serve, test } from './run.ts';

/** A service that gives one answer to every request, with a `Date` that is `behind` the clock of this machine. */
async function answering(status: number, body: string, behind = 0) {
  const date = new Date(Date.now() - behind).toUTCString();
  const place = await asking(
    (socket) => void socket.write(head(status, { 'Content-Length': Buffer.byteLength(body), Date: date }) + body),
  );
  const run = async (args: string[], env = {}) => {
    const { exitCode, stdout, stderr } = await place.filings(args, { FILINGS_RETRIES: '0', ...env });
    return { exitCode, stdout: `${stdout}`, stderr };
  };
  return { ...place, check: (args: string[] = [], env = {}) => run(['config', 'check', ...args], env), run };
}

test('config check prints the address, the key, the clock and what the listing has', async ({ place }) => {
  const { url } = await serve(['--api-key', 'a-key-1234', '--pages', '4']);
  await place.config({ listing: { files: 'files', next: 'next', name: "file_name != 'R1.htm' && file_name || null" } });
  const env = { FILINGS_BASE_URL: url, FILINGS_API_KEY: 'a-key-1234', FILINGS_KEY_IN: 'basic' };
  const { exitCode, stdout, stderr } = await place.filings(['config', 'check', ACCESSION], env);
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(linesOf(stdout)).toEqual([
    `address\t${url}/`,
    'key\tby Basic authentication, as the user service',
    'token\tnone',
    'source\tFILINGS_API_KEY',
    'clock\tok',
    'records\t11',
    'files\t10',
    'pages\t3',
  ]);
});

const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJuYmYiOjB9.c2lnbmF0dXJl';
test.for([
  { sends: 'a key', env: {}, behind: 10_800_000, verdict: /is 3 h ahead/ },
  { sends: 'a key', env: {}, behind: 10_000, verdict: /ok$/m },
  // The service refuses a JWT from the future.
  { sends: 'a JWT', env: { FILINGS_JWT: TOKEN }, behind: 10_000, verdict: /is 1[01] s ahead/ },
])('config check with $sends calls a clock that is $behind ms ahead: $verdict', async ({ env, behind, verdict }) => {
  const { check } = await answering(200, '["a.htm"]', behind);
  expect((await check([ACCESSION], env)).stdout).toMatch(new RegExp(`^clock\t.*${verdict.source}`, 'm'));
});

test.each([
  { status: 404, body: '{"title":"Item not found"}' },
  { status: 200, body: '[]' },
])('config check without ACCESSION asks for one that exists after a $status $body', async ({ status, body }) => {
  const { check } = await answering(status, body);
  const { exitCode, stdout, stderr } = await check();
  expect([exitCode, stderr]).toEqual([
    0,
    expect.stringMatching(/^hint: .*accession number of a filing that exists\n$/),
  ]);
  expect(stdout).toMatch(/^records\t0$/m);
});

test.each([
  // No service sends a 410 for a number that it does not know.
  { what: 'a 410', status: 410, body: '' },
  { what: 'other filings', status: 200, body: `[{"accession_no":"${ACCESSION}","file_name":"a.htm"}]` },
])('config check without ACCESSION is 5 if the service sends $what', async ({ status, body }) => {
  expect((await (await answering(status, body)).check()).exitCode).toBe(5);
});

test.each([
  { status: 200, body: '{"listing":"no"}', exit: 9 },
  { status: 200, body: '[]', exit: 5 },
  { status: 401, body: '', exit: 4 },
])('config check fails exactly as list does: $exit for a $status $body', async ({ status, body, exit }) => {
  const { check, run } = await answering(status, body);
  const checked = await check([ACCESSION]);
  expect(checked).toEqual({ exitCode: exit, stdout: '', stderr: expect.stringMatching(/^filings: /) });
  expect(await run(['list', ACCESSION])).toEqual(checked);
});

test('config check retries only if --retries is given', async () => {
  const { run, requests } = await answering(503, '');
  expect((await run(['config', 'check'], { FILINGS_RETRIES: '5' })).exitCode).toBe(7);
  expect(requests).toHaveLength(1);
  expect((await run(['config', 'check', '--retries', '1'])).exitCode).toBe(7);
  expect(requests).toHaveLength(3);
});
