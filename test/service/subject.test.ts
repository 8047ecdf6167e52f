import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { about, FilingsError } from '../../src/errors.ts';
import { framed, head, sendAndEnd } from '../servers/answers.ts';
import { type Script, startScripted } from '../servers/scripted.ts';
import { ACCESSION, content, memoryWriter, startRun } from './transfer-fixture.ts';

// What was asked for rides on an error as data; its words stand in front of the message, once.
const FILE = content(5000);
const reply =
  (status: number, body = ''): Script =>
  (socket) =>
    void socket.write(head(status, { 'Content-Length': body.length }) + body);
const cut: Script = (socket) => {
  const { bytes, headBytes } = framed(FILE, 'length', {});
  sendAndEnd(socket, bytes.subarray(0, headBytes + 1000), 'FIN');
};
const hangUp: Script = (socket) => void socket.destroy();
const coded: Script = (socket) => void socket.write(head(200, { 'Content-Length': 1, 'Content-Encoding': 'br' }));

const FAILURES: readonly (readonly [kind: string, script: Script, code: string, why: RegExp])[] = [
  ['not there', reply(404), 'not_found', /404 Not Found$/],
  ['a wrong key', reply(401), 'auth', /401 Unauthorized/],
  ['a service that fails', reply(503), 'temporary', /503 Service Unavailable$/],
  ['no answer', hangUp, 'temporary', /closed/],
  ['content coding', coded, 'integrity', /the content coding br/],
  ['cut short', cut, 'integrity', /./],
];

async function run(script: Script) {
  const server = await startScripted(script);
  onTestFinished(() => server.close());
  return startRun(server.url);
}

describe('a file', () => {
  test.each(FAILURES)('%s', async (_, script, code, why) => {
    const { error } = await (await run(script)).save();
    expect(error).toMatchObject({ code, subject: { accession: ACCESSION, fileName: 'primary.htm' } });
    expectOnce(error, `primary.htm of ${ACCESSION}: `, why);
  });

  test('cut short in a pipe', async () => {
    const { error } = await (await run(cut)).pipe(memoryWriter());
    expect(error).toMatchObject({ code: 'integrity', subject: { accession: ACCESSION, fileName: 'primary.htm' } });
    expectOnce(error, `primary.htm of ${ACCESSION}: `, /./);
  });

  test('a wrong hash', async () => {
    const { bytes } = framed(FILE, 'length', {});
    const wrong = '0'.repeat(64);
    const { error } = await (await run((socket) => void socket.write(bytes))).save('primary.htm', wrong);
    expect(error).toMatchObject({ code: 'integrity', subject: { accession: ACCESSION, fileName: 'primary.htm' } });
    expectOnce(error, `primary.htm of ${ACCESSION}: `, /^wrong hash: its SHA-256 is [0-9a-f]{64}, not 0{64}$/);
  });

  test('what the disk says is about its path', async () => {
    const one = await run(reply(404));
    await mkdir(join(one.directory, 'primary.htm'));
    const { error } = await one.save();
    expect(error).toMatchObject({ code: 'local_io', subject: undefined });
    expect(error?.message).toMatch(/\/primary\.htm: cannot write: a directory is in the way$/);
  });
});

describe('a listing', () => {
  test.each([...FAILURES, ['none at all', reply(200, '<p>hello</p>'), 'integrity', /^cannot be read/] as const])(
    '%s',
    async (_, script, code, why) => {
      const error = await (await run(script)).list().catch((thrown) => thrown);
      expect(error).toMatchObject({ code, subject: { accession: ACCESSION } });
      expect(error.subject.fileName).toBeUndefined();
      expectOnce(error, `the listing of ${ACCESSION}: `, why);
    },
  );
});

test.each<[string, unknown]>([
  ['the disk', new FilingsError('local_io', 'a: cannot write')],
  ['a signal', new FilingsError('interrupted', 'interrupted: SIGINT', { signal: 2 })],
  ['a defect', new TypeError('x is not a function')],
])('an error of %s stays as it is', (_, error) => {
  expect(about({ accession: ACCESSION }, error)).toBe(error);
});

function expectOnce(error: FilingsError | undefined, words: string, why: RegExp): void {
  const message = error?.message ?? '';
  expect(message.slice(0, words.length)).toBe(words);
  const rest = message.slice(words.length);
  expect(rest).toMatch(why);
  expect(rest).not.toContain(ACCESSION);
}
