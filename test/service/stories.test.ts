import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proving } from '../proving.ts';
import { type Ending, type Framing, framed, rangeStart } from '../servers/answers.ts';
import { type SeenRequest, scripted } from '../servers/scripted.ts';
import { startRun, temporaryDirectory } from './transfer-fixture.ts';

// A story is a service that changes a file from version A to B and back while it cuts its answers. Whatever the runs make
// of it, the file that they save is one of the two versions, and once the service behaves they do save it.

type Version = 'A' | 'B';

interface Service {
  readonly sizes: Readonly<Record<Version, number>>;
  /** Tells the versions apart. It is never wrong, because no client could notice that. */
  readonly validator: 'etag' | 'weak' | 'modified' | 'modified just now' | 'none';
}

interface Answer {
  readonly of: Version;
  readonly status: 200 | 206 | 416;
  /** Distance of the first byte from the requested one. */
  readonly shift: number;
  readonly framing: Framing;
  /** The part of the body that is sent, in thousandths. */
  readonly sent: number;
  readonly ending: Ending;
}

/** The next run resumes what is left of a file of this size, because it is over 1 MiB. */
const LARGE = 1_500_000;
const WORDS = { A: numbered('A'), B: numbered('B') };

/** Text in which a shifted, repeated or missing piece is visible. */
function numbered(version: Version): Buffer {
  return Buffer.from(Array.from({ length: LARGE / 10 }, (_, at) => `${version}${`${at}`.padStart(8, '.')} `).join(''));
}

const ANSWER: fc.Arbitrary<Answer> = fc.record({
  of: fc.constantFrom<Version>('A', 'A', 'A', 'B'),
  status: fc.constantFrom(200, 206, 206, 206, 416),
  shift: fc.constantFrom(0, 0, 0, 0, 0, 0, -1, 1, 100, -100),
  framing: fc.constantFrom('length', 'chunked', 'until-close'),
  sent: fc.oneof({ weight: 1, arbitrary: fc.constant(1000) }, { weight: 3, arbitrary: fc.nat({ max: 1000 }) }),
  ending: fc.constantFrom('FIN', 'RST'),
});

/** The first answer is a whole file that is cut, so that a later one can continue it. Only a reset cuts a body without a length. */
const FIRST = ANSWER.map((answer): Answer => {
  const ending = answer.framing === 'until-close' ? 'RST' : answer.ending;
  return { ...answer, status: 200, sent: Math.min(answer.sent, 999), ending };
});

const STORY = fc.record({
  service: fc.record({
    sizes: fc.constantFrom({ A: 5000, B: 5000 }, { A: 5000, B: 4000 }, { A: 5000, B: 6000 }, { A: LARGE, B: LARGE }),
    validator: fc.constantFrom('etag', 'etag', 'etag', 'modified', 'modified', 'weak', 'modified just now', 'none'),
  }) as fc.Arbitrary<Service>,
  answers: fc.tuple(FIRST, fc.array(ANSWER, { minLength: 1, maxLength: 3 })).map(([first, more]) => [first, ...more]),
  retries: fc.constantFrom(3, 3, 0),
});

const fileOf = ({ sizes }: Service, version: Version) => WORDS[version].subarray(0, sizes[version]);

function validatorsOf({ validator }: Service, of: Version): Record<string, string> {
  const date = 'Tue, 02 Jan 2024 00:00:00 GMT';
  if (validator === 'none') return {};
  if (validator === 'etag') return { ETag: `"${of}"` };
  if (validator === 'weak') return { ETag: 'W/"same"', 'Last-Modified': 'Mon, 01 Jan 2024 00:00:00 GMT', Date: date };
  if (validator === 'modified just now') return { 'Last-Modified': date, Date: date };
  return { 'Last-Modified': `Mon, 01 Jan 2024 00:00:0${of === 'A' ? 1 : 2} GMT`, Date: date };
}

/** The bytes of an answer to a request for the whole file, or for the file from `start` on. */
function bytesOf(service: Service, { of, status, shift, framing, sent, ending }: Answer, start = 0): Buffer {
  const file = fileOf(service, of);
  const from = status === 200 ? 0 : Math.max(0, start + shift);
  const range = {
    200: undefined,
    206: `bytes ${from}-${file.length - 1}/${file.length}`,
    416: `bytes */${file.length}`,
  };
  const fields = { ...validatorsOf(service, of), ...(range[status] && { 'Content-Range': range[status] }) };
  const body = status === 416 ? Buffer.alloc(0) : file.subarray(from);
  const { bytes, headBytes, upTo } = framed(body, status === 416 ? 'length' : framing, fields, status);
  // The end of the connection ends a body without a length: only a reset, or the total of a range, shows that it was cut.
  if (framing === 'until-close' && status === 200 && ending === 'FIN') return bytes;
  return upTo(Math.ceil(((bytes.length - headBytes) * sent) / 1000));
}

/** What a sound service answers: version A, or the rest of it if If-Range names its validator. */
function soundBytes(service: Service, { headers }: SeenRequest, start: number | undefined): Buffer {
  const { ETag, 'Last-Modified': modified } = validatorsOf(service, 'A');
  const answer: Answer = { of: 'A', status: 200, shift: 0, framing: 'length', sent: 1000, ending: 'FIN' };
  if (start === undefined || headers['if-range'] !== (ETag ?? modified)) return bytesOf(service, answer);
  return bytesOf(service, { ...answer, status: start < service.sizes.A ? 206 : 416 }, start);
}

test('runs against a service that cuts its answers never save a mixture of two versions, and save the file in the end', async () => {
  let ranges = 0;
  const property = fc.asyncProperty(STORY, async ({ service, answers, retries }) => {
    const server = await scripted(async (socket, request) => {
      const answer = answers[request.index];
      const start = rangeStart(request);
      if (start !== undefined) ranges += 1;
      const bytes = answer ? bytesOf(service, answer, start) : soundBytes(service, request, start);
      await new Promise((sent) => socket.write(bytes, sent));
      if (answer?.ending !== 'RST') return void socket.end();
      await wait(2);
      socket.resetAndDestroy();
    });
    const directory = await temporaryDirectory();
    for (let runs = 0; runs <= answers.length; runs += 1) {
      const run = await startRun(server.url, { retries, directory });
      const { error } = await run.save('f');
      if (error === undefined) {
        const saved = await run.read('f');
        expect(['A', 'B'].some((version) => fileOf(service, version as Version).equals(saved))).toBe(true);
        return;
      }
      expect(['integrity', 'temporary', 'rejected']).toContain(error.code);
      expect(await run.names()).not.toContain('f');
    }
    expect.fail('the service answers well, and nothing was saved');
  });
  await fc.assert(property, { seed: 6000, numRuns: proving ? 300 : 40 });
  expect(ranges).toBeGreaterThan(10);
});
