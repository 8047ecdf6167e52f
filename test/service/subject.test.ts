import { describe, expect, onTestFinished, test } from 'vitest';
import type { FilingsError } from '../../src/errors.ts';
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

const FAILURES: readonly (readonly [kind: string, script: Script, code: string, why: RegExp])[] = [
  ['not there', reply(404), 'not_found', /404 Not Found$/],
  ['no answer', hangUp, 'temporary', /closed/],
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
    expectOnce(error, `primary.htm of ${ACCESSION}: `, /./);
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

function expectOnce(error: FilingsError | undefined, words: string, why: RegExp): void {
  const message = error?.message ?? '';
  expect(message.slice(0, words.length)).toBe(words);
  const rest = message.slice(words.length);
  expect(rest).toMatch(why);
  expect(rest).not.toContain(ACCESSION);
}
