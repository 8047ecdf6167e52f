import { EventEmitter, getEventListeners, once } from 'node:events';
import { readdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, mkdir, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { FINAL_OUTPUT_GRACE_MS, sleep } from '../../src/abort.ts';
import { interruptionError } from '../../src/world.ts';
import { head, sendFile } from '../servers/answers.ts';
import { accession, type Filings, type Instead, startArchive } from '../servers/archive.ts';
import { answering } from './batch.ts';
import { openFifo, untilFull } from './place.ts';
import { ACCESSION, type RunOptions, workplace } from './run.ts';

// A run releases all descriptors, timers, listeners and temporary files when it ends, however it ends. The whole
// program runs here in the test's process, and the test counts the remaining ones.

const NUMBERS = [accession(1), accession(2), accession(3)];
const LARGE = Buffer.alloc(3_000_001, 'x');
const FILINGS: Filings = Object.fromEntries(NUMBERS.map((number) => [number, { 'a.htm': number, 'large.htm': LARGE }]));
const MIRROR = 'download -i ../in --all --checksums --done done --report report --failed failed'.split(' ');
const MIRRORED = [
  ...NUMBERS.flatMap((number) => ['SHA256SUMS', 'a.htm', 'large.htm'].map((name) => `${number}/${name}`)),
  ...['done', 'failed', 'report'],
];

/** Collects every signal of the source, and of Node for it, since each has a controller, and the warnings of Node. */
function watch() {
  const signals: AbortSignal[] = [];
  class WatchedController extends AbortController {
    constructor() {
      super();
      signals.push(this.signal);
    }
  }
  vi.stubGlobal('AbortController', WatchedController);
  onTestFinished(() => void vi.unstubAllGlobals());
  // Garbage collection closes directories and some files, too, and Node warns of each.
  const warnings: string[] = [];
  const warn = ({ message }: Error) => warnings.push(message);
  process.on('warning', warn);
  onTestFinished(() => void process.off('warning', warn));
  return { signals, warnings };
}

/** Returns what the descriptors of this process lead to. That of a test is left out. */
function descriptors(own: number | undefined): string[] {
  const targets = readdirSync('/dev/fd').flatMap((fd) => {
    if (fd === `${own}`) return [];
    try {
      // The numbers of sockets and pipes differ from run to run.
      return [readlinkSync(`/dev/fd/${fd}`).replace(/\d+(?=\]$)/, '')];
    } catch (error) {
      // Elsewhere than on Linux a descriptor is no link. The one that read the directory is closed.
      return (error as NodeJS.ErrnoException).code === 'EINVAL' ? [fd] : [];
    }
  });
  return targets.sort();
}

/** The event that ends a run early. */
interface Ends {
  readonly interrupt: AbortController;
  /** Passes with the event `pass`. */
  readonly deadline: EventEmitter;
  /** The directory of the downloads. */
  readonly directory: string;
}

type Answers = (ends: Ends) => Instead;

const DEADLINE_MS = 3_600_000;

/** Runs command lines one after the other. Returns the resources that are left. */
async function leftBy(lines: readonly (readonly string[])[], answers: Answers, own?: number) {
  const place = await workplace();
  await place.write('../in', `${NUMBERS.join('\n')}\n`);
  await place.write('../kept/.a.htm.filings-resume', 'not a part of this file');
  await place.write('../key', 'old-key');
  await mkdir(place.at('../tmp'));
  const { signals, warnings } = watch();
  const ends: Ends = { interrupt: new AbortController(), deadline: new EventEmitter(), directory: place.path };
  const archive = await startArchive(FILINGS, { instead: answers(ends) });
  const before = descriptors(own);
  let timers = 0;
  const given: RunOptions = {
    interrupt: ends.interrupt.signal,
    input: 'a-key',
    async sleep(ms, signal) {
      timers += 1;
      // The waits before retries take no time. The limits of a last flush and of the last output stay.
      const isBackOff = ms > 200 && ms < 2000 && ms !== FINAL_OUTPUT_GRACE_MS;
      const waits: Promise<unknown>[] = [sleep(isBackOff ? 0 : ms, signal)];
      if (ms === DEADLINE_MS) waits.push(once(ends.deadline, 'pass'));
      await Promise.race(waits).finally(() => {
        timers -= 1;
      });
    },
  };
  const env = { ...archive.env, TMPDIR: place.at('../tmp') };
  const statuses: number[] = [];
  for (const line of lines) statuses.push((await place.filings(line, env, given)).exitCode);
  // A wait that was called off ends in a later turn than the run.
  await new Promise((resolve) => setImmediate(resolve));
  const listeners = signals.flatMap((signal) => getEventListeners(signal, 'abort').map(String));
  const temporary = await readdir(place.at('../tmp'));
  // Sockets, and the file of an input, are closed in a later turn, too.
  await vi.waitFor(() => expect(descriptors(own)).toEqual(before), { timeout: 10_000 });
  await archive.close();
  const entries = await readdir(place.path, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => !entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name));
  const files = paths.map((path) => path.slice(place.path.length + 1)).sort();
  return { statuses, timers, listeners, temporary, warnings, files };
}

const NOTHING = { timers: 0, listeners: [], temporary: [], warnings: [] };

/** Each listing fails once, and each large file is cut once. */
const failingOnce: Answers =
  () =>
  (socket, { name, before, request }) => {
    if (name === 'large.htm' && before > 0) sendFile(socket, request, LARGE, '"v1"');
    else if (name === 'large.htm') socket.end(beginning());
    else if (name === undefined && before === 0) socket.write(head(503, { 'Content-Length': 0 }));
    else return false;
    return true;
  };
/** Each request for a file of this name, or each request at all, gets an error. */
const answeringAll =
  (status: number, only?: string): Answers =>
  () =>
    answering(status, ({ name }) => only === undefined || name === only);
/** Returns whether a download in progress is large enough on the disk to be kept: over 1 MiB. */
const hasLargePart = (directory: string) =>
  readdirSync(directory, { recursive: true })
    .map((path) => join(directory, `${path}`))
    .some((path) => path.endsWith('.filings-part') && statSync(path).size > 1 << 20);
/** Ends the run in the middle of the first large file, which never ends. */
const stalling =
  (end: (ends: Ends) => unknown): Answers =>
  (ends) =>
  (socket, { name }) => {
    if (name !== 'large.htm') return false;
    socket.write(beginning());
    const isKept = () => expect(hasLargePart(ends.directory)).toBe(true);
    void vi.waitFor(isKept, { timeout: 30_000 }).then(() => end(ends));
    return true;
  };
const failing = answeringAll(404);
/** Ends the run when bytes wait for the reader of its FIFO. */
const whenFull =
  (end: (ends: Ends, reader: FileHandle) => unknown) =>
  (fifo: string, reader: FileHandle): Answers =>
  (ends) =>
  (socket) => {
    socket.write(beginning());
    void untilFull(fifo).then(() => end(ends, reader));
    return true;
  };
const signalled = whenFull(({ interrupt }) => interrupt.abort(interruptionError('SIGTERM')));
const closed = whenFull((_, reader) => reader.close());
const signal = stalling(({ interrupt }) => interrupt.abort(interruptionError('SIGTERM')));
const deadline = stalling(({ deadline }) => deadline.emit('pass'));

function beginning(): Buffer {
  const fields = { 'Content-Length': LARGE.length, ETag: '"v1"' };
  return Buffer.concat([Buffer.from(head(200, fields)), LARGE.subarray(0, -1)]);
}

test('a mirror whose requests all fail once, and every command over it, releases all that it opens', async () => {
  const mirror = (done: string) => MIRROR.map((arg) => (arg === 'done' ? done : arg));
  const mirrors = [MIRROR, MIRROR, mirror('b'), [...mirror('c'), '--if-exists', 'compare'], [...MIRROR, '--dry-run']];
  const left = await leftBy([...mirrors, ['verify', '.'], ['list', accession(1)]], failingOnce);
  expect(left).toEqual({ ...NOTHING, statuses: Array(7).fill(0), files: [...MIRRORED, 'b', 'c'].sort() });
});

const withBooks = (report: string, done: string) => [
  'download',
  '-i',
  '../in',
  '--all',
  '--report',
  report,
  '--done',
  done,
];
test.each`
  command                              | line                                                                                | exit
  ${'the sandbox'}                     | ${['--sandbox', 'download', ACCESSION, '--all', '-d', '../sandboxed']}              | ${0}
  ${'a check of the service'}          | ${['config', 'check', accession(1)]}                                                | ${0}
  ${'many listings'}                   | ${['list', '-i', '../in']}                                                          | ${0}
  ${'a completion'}                    | ${['__complete', 'download', accession(1), '']}                                     | ${0}
  ${'a key on stdin'}                  | ${['list', accession(1), '--api-key-file', '-']}                                    | ${0}
  ${'a kept part that is refused'}     | ${['download', accession(1), 'a.htm', '-d', '../kept']}                             | ${0}
  ${'a device'}                        | ${['download', accession(1), 'a.htm', '-o', '/dev/null']}                           | ${0}
  ${'a limit of the rate'}             | ${['download', accession(1), 'a.htm', '-o', '../limited', '--limit-rate', '1MB/s']} | ${0}
  ${'a limit of the time'}             | ${['download', accession(1), 'a.htm', '-o', '../limited', '--stop-after', '1h']}    | ${0}
  ${'a key file that is missing'}      | ${['list', accession(1), '--api-key-file', 'missing']}                              | ${2}
  ${'a done list that cannot be made'} | ${withBooks('../report', 'missing/done')}                                           | ${8}
  ${'a report that cannot be made'}    | ${withBooks('missing/report', '../done')}                                           | ${8}
`('$command releases all that it opens', async ({ line, exit }) => {
  expect(await leftBy([line], () => () => false)).toEqual({ ...NOTHING, statuses: [exit], files: [] });
});

test.each(['download --all', 'list'])('a run of %s that stops before its input ends closes it', async (command) => {
  const pipe = join((await workplace()).path, 'endless');
  await (await openFifo(pipe)).write(`${accession(1)}\n`);
  const left = await leftBy([[...command.split(' '), '-i', pipe]], answeringAll(401));
  expect(left).toEqual({ ...NOTHING, statuses: [4], files: [] });
});

test.for`
  end              | answers          | exit
  ${'the service'} | ${() => failing} | ${5}
  ${'a signal'}    | ${signalled}     | ${143}
  ${'its reader'}  | ${closed}        | ${141}
`('a download into a FIFO that $end ends closes it', async ({ answers, exit }) => {
  const fifo = join((await workplace()).path, 'fifo');
  const reader = await openFifo(fifo);
  const left = await leftBy([['download', accession(1), 'large.htm', '-o', fifo]], answers(fifo, reader), reader.fd);
  expect(left).toEqual({ ...NOTHING, statuses: [exit], files: [] });
});

/** The first answer for a file has a body that never ends. By then, another key is in the file. */
const endless =
  (status: number): Answers =>
  ({ directory }) =>
  (socket, { before, request }) => {
    if (before > 0) return false;
    writeFileSync(join(directory, '../key'), 'new-key', { mode: 0o600 });
    const fields = { 'Content-Length': LARGE.length, Location: `${request.path}&again` };
    socket.write(Buffer.concat([Buffer.from(head(status, fields)), LARGE.subarray(1)]));
    return true;
  };
test.each`
  what            | answers
  ${'a redirect'} | ${endless(302)}
  ${'a new key'}  | ${endless(401)}
`('$what closes the connection of a response that never ends', async ({ answers }) => {
  const line = ['download', accession(1), 'large.htm', '-o', '../large.htm', '--api-key-file', '../key'];
  expect(await leftBy([line], answers)).toEqual({ ...NOTHING, statuses: [0], files: [] });
});

/** Cuts each large file after 9 bytes, which are not worth keeping. */
const cutting: Answers =
  () =>
  (socket, { name }) =>
    name === 'large.htm' && !!socket.end(beginning().subarray(0, 99));
test.each`
  what               | answers                           | exit
  ${'not found'}     | ${answeringAll(404, 'large.htm')} | ${3}
  ${'cut each time'} | ${cutting}                        | ${7}
`('a mirror of which some files are $what releases all that it opens', async ({ answers, exit }) => {
  const files = MIRRORED.filter((path) => !path.endsWith('/large.htm')).sort();
  expect(await leftBy([[...MIRROR, '--retries', '1']], answers)).toEqual({ ...NOTHING, statuses: [exit], files });
});

test.each`
  end               | answers     | exit
  ${'a signal'}     | ${signal}   | ${143}
  ${'the deadline'} | ${deadline} | ${7}
`('a mirror that $end stops keeps its part, and releases all that it opens', async ({ answers, exit }) => {
  const { files, ...left } = await leftBy([[...MIRROR, '-j', '1', '--deadline', '1h']], answers);
  expect(left).toEqual({ ...NOTHING, statuses: [exit] });
  const hidden = files.filter((path) => basename(path).startsWith('.'));
  expect(hidden).toEqual([expect.stringMatching(/resume$/)]);
});
