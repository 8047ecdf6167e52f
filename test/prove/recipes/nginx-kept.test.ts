import { describe, expect, test } from 'vitest';
import { ACCESSION, workplace } from '../../cli/program.ts';
import { head } from '../../servers/answers.ts';
import { type Instead, startArchive } from '../../servers/archive.ts';
import { tlsWith } from '../../servers/certificates.ts';
import { NO_NGINX, startProxy } from '../../servers/nginx.ts';
import { content } from '../../service/transfer-fixture.ts';

const there = test.skipIf(NO_NGINX !== '');
const BODY = content(30_000);
const PROBLEM = '{"title":"Sorry","status":500}';

type Fields = Parameters<typeof head>[1];

const answer = (status: number, fields: Fields, body: string | Buffer = '') =>
  Buffer.concat([Buffer.from(head(status, fields)), Buffer.from(body)]);
const says =
  (bytes: Buffer): Instead =>
  (socket) => {
    socket.write(bytes);
    return true;
  };
const saysAndEnds =
  (bytes: Buffer): Instead =>
  (socket) => {
    socket.end(bytes);
    return true;
  };

/** What the service says at first, and how the run ends that asks then. */
const NOT_KEPT: readonly (readonly [name: string, first: Instead, exitCode: number])[] = [
  ['a 404', says(answer(404, { 'Content-Length': 0 })), 5],
  ['a 500', says(answer(500, { 'Content-Length': 0, 'Retry-After': 0 })), 0],
  ['a body that is cut', saysAndEnds(answer(200, { 'Content-Length': BODY.length }, BODY.subarray(0, 20_000))), 0],
  ['a chunked body that is cut', saysAndEnds(answer(200, { 'Transfer-Encoding': 'chunked' }, '5\r\nhello\r\n')), 0],
  [
    'a problem under 200',
    says(answer(200, { 'Content-Type': 'application/problem+json', 'Content-Length': PROBLEM.length }, PROBLEM)),
    9,
  ],
  [
    'a coded body that nobody asked for',
    says(answer(200, { 'Content-Encoding': 'gzip', 'Content-Length': 3 }, 'abc')),
    9,
  ],
  ['a body whose end nothing proves', saysAndEnds(answer(200, { ETag: '"old"' }, BODY)), 0],
];

describe(`what the recipe's cache keeps${NO_NGINX}`, () => {
  there.each(NOT_KEPT)('%s is not kept: the next one asks again, and is right', async (_name, first, exitCode) => {
    const service = await startArchive(
      { [ACCESSION]: { 'a.htm': BODY } },
      { tls: tlsWith('own-name'), instead: (socket, asked) => (asked.before === 0 ? first(socket, asked) : false) },
    );
    const { env } = await startProxy(service.port);
    const place = await workplace();
    const line = ['download', ACCESSION, 'a.htm', '--if-exists', 'overwrite'];
    const then = await place.filings(line, env);
    expect(then.exitCode, then.stderr).toBe(exitCode);
    for (let run = 0; run < 2; run += 1) {
      const next = await place.filings(line, env);
      expect(next.exitCode, next.stderr).toBe(0);
      expect((await place.read('a.htm')).equals(BODY)).toBe(true);
    }
    expect(service.asked()).toHaveLength(2);
  });

  there('a file is kept whatever the service tells caches in general; nothing of that reaches nginx', async () => {
    const fields = {
      'Cache-Control': 'private, no-store',
      Expires: '0',
      'Set-Cookie': 'a=b',
      Vary: '*',
      'X-Accel-Redirect': '/v1/filings',
      'X-Accel-Expires': 0,
      ETag: '"v1"',
      'Content-Length': BODY.length,
    };
    const instead = says(answer(200, fields, BODY));
    const service = await startArchive({}, { tls: tlsWith('own-name'), instead });
    const { env } = await startProxy(service.port);
    const place = await workplace();
    for (const name of ['one', 'two']) {
      const ended = await place.filings(['download', ACCESSION, 'a.htm', '-o', name], env);
      expect(ended.exitCode, ended.stderr).toBe(0);
      expect((await place.read(name)).equals(BODY)).toBe(true);
    }
    expect(service.asked()).toHaveLength(1);
  });
});
