import { describe, expect, test } from 'vitest';
import { framed, head, sendAndEnd } from '../servers/answers.ts';
import type { Script } from '../servers/scripted.ts';
import { ACCESSION, content, memoryWriter, serve, startRun } from './transfer-fixture.ts';

// What was asked for rides on an error as data; its words stand in front of the message, once.
const reply =
  (status: number, body = ''): Script =>
  (socket) =>
    void socket.write(head(status, { 'Content-Length': body.length }) + body);
const cut: Script = (socket) => {
  const { bytes, headBytes } = framed(content(5000), 'length', {});
  sendAndEnd(socket, bytes.subarray(0, headBytes + 1000), 'FIN');
};

const FAILURES: readonly (readonly [kind: string, code: string, why: RegExp, script: Script])[] = [
  ['not there', 'not_found', /^404 Not Found$/, reply(404)],
  ['no answer', 'temporary', /closed/, (socket) => void socket.destroy()],
  ['cut short', 'integrity', /./, cut],
];

function expectOnce(error: { readonly message: string } | undefined, words: string, why: RegExp): void {
  const message = error?.message ?? '';
  expect(message.slice(0, words.length)).toBe(words);
  expect(message.slice(words.length)).toMatch(why);
  expect(message.slice(words.length)).not.toContain(ACCESSION);
}

describe('a file', () => {
  const words = `primary.htm of ${ACCESSION}: `;

  test.each(FAILURES)('%s', async (_, code, why, script) => {
    const { error } = await (await startRun((await serve(script)).url)).save();
    expect(error).toMatchObject({ code, subject: { accession: ACCESSION, fileName: 'primary.htm' } });
    expectOnce(error, words, why);
  });

  test('cut short in a pipe', async () => {
    const { error } = await (await startRun((await serve(cut)).url)).pipe(memoryWriter());
    expectOnce(error, words, /./);
  });
});

test.each([...FAILURES, ['none at all', 'integrity', /^cannot be read/, reply(200, '<p>hello</p>')] as const])(
  'a listing: %s',
  async (_, code, why, script) => {
    const error = await (await startRun((await serve(script)).url)).list().catch((thrown) => thrown);
    expect(error).toMatchObject({ code, subject: { accession: ACCESSION } });
    expect(error.subject.fileName).toBeUndefined();
    expectOnce(error, `the listing of ${ACCESSION}: `, why);
  },
);
