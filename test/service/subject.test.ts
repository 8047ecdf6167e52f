import { describe, expect, test } from 'vitest';
import type { FilingsError } from '../../src/errors.ts';
import { framed, head, sendAndEnd } from '../servers/answers.ts';
import type { Script } from '../servers/scripted.ts';
import { ACCESSION, content, memoryWriter, serve, startRun } from './transfer-fixture.ts';

// What was asked for rides on an error as data; its words stand in front of the message, once.
const reply =
  (status: number, body = ''): Script =>
  (socket) =>
    void socket.write(head(status, { 'Content-Length': body.length }) + body);
const cut: Script = (socket) => sendAndEnd(socket, framed(content(5000), 'length', {}).bytes.subarray(0, 2000), 'FIN');
const hangUp: Script = (socket) => void socket.destroy();

const FAILURES: readonly (readonly [kind: string, script: Script, code: string, why: RegExp])[] = [
  ['not there', reply(404), 'not_found', /404 Not Found$/],
  ['no answer', hangUp, 'temporary', /closed/],
  ['cut short', cut, 'integrity', /./],
];

const run = async (script: Script) => startRun((await serve(script)).url);

describe('a file', () => {
  const [words, subject] = [`primary.htm of ${ACCESSION}: `, { accession: ACCESSION, fileName: 'primary.htm' }];
  test.each(FAILURES)('%s', async (_, script, code, why) => {
    const { error } = await (await run(script)).save();
    expect(error).toMatchObject({ code, subject });
    expectOnce(error, words, why);
  });

  test('cut short in a pipe', async () => {
    const { error } = await (await run(cut)).pipe(memoryWriter());
    expectOnce(error, words, /./);
  });
});

test.each([...FAILURES, ['none at all', reply(200, '<p>hello</p>'), 'integrity', /^cannot be read/] as const])(
  'a listing: %s',
  async (_, script, code, why) => {
    const error = await (await run(script)).list().catch((thrown) => thrown);
    expect(error).toMatchObject({ code, subject: { accession: ACCESSION } });
    expect(error.subject.fileName).toBeUndefined();
    expectOnce(error, `the listing of ${ACCESSION}: `, why);
  },
);

function expectOnce(error: FilingsError | undefined, words: string, why: RegExp): void {
  const message = error?.message ?? '';
  expect(message.slice(0, words.length)).toBe(words);
  expect(message.slice(words.length)).toMatch(why);
  expect(message.slice(words.length)).not.toContain(ACCESSION);
}
