import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { oneThread, traced } from '../prove/traced.ts';
import { head, nothingLeft, rangeStart } from '../servers/answers.ts';
import { type ScriptedServer, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, BIN, NODE, proving, serviceAt, until, type Workplace, workplace } from './program.ts';

// Proof 3 of a transfer that never lies: after a kill the final name is absent, old, or whole; a rerun completes.
const ROUNDS = proving ? 25 : 3;
// Each write takes 1 MiB at the most, and some more: there are at least four.
const FILE = content(4_500_000);
const OLD = Buffer.from('the old file');
const NAME = 'primary.htm';
const PIECE = 500_000;
const PIECES = FILE.length / PIECE;
let server: ScriptedServer;
/** Told how many pieces of an answer are sent; no more are until what it gives settles. */
let onSent = (_pieces: number): Promise<void> | undefined => undefined;

/** The file comes in pieces, some milliseconds apart, so that a kill can fall between them. */
beforeAll(async () => {
  server = await startScripted(async (socket, request) => {
    const start = request.headers['if-range'] === '"v1"' ? rangeStart(request) : undefined;
    if ((start ?? 0) >= FILE.length) {
      socket.write(nothingLeft(FILE, '"v1"'));
      return;
    }
    const range = { 'Content-Range': `bytes ${start}-${FILE.length - 1}/${FILE.length}` };
    const fields = { ETag: '"v1"', 'Content-Length': FILE.length - (start ?? 0) };
    socket.write(start === undefined ? head(200, fields) : head(206, { ...fields, ...range }));
    await onSent(0);
    for (let at = start ?? 0, sent = 1; at < FILE.length && !socket.destroyed; at += PIECE, sent += 1) {
      socket.write(FILE.subarray(at, at + PIECE));
      await onSent(sent);
      await sleep(8);
    }
  });
});
afterAll(() => server.close());

const arguments_ = (old: boolean) => ['download', ACCESSION, NAME, ...(old ? ['--if-exists', 'overwrite'] : [])];

async function partBytes(place: Workplace): Promise<number> {
  const part = (await place.names()).find((name) => name.endsWith('.part'));
  return part === undefined ? 0 : (await place.read(part)).length;
}

async function expectSoundThenComplete(place: Workplace, old: boolean): Promise<void> {
  const names = await place.names();
  if (names.includes(NAME)) {
    const found = await place.read(NAME);
    expect(found.equals(FILE) || (old && found.equals(OLD))).toBe(true);
  } else expect(old).toBe(false);
  const { exitCode, stderr } = await place.filings(arguments_(old), serviceAt(server.url));
  expect(exitCode, stderr).toBe(0);
  expect((await place.read(NAME)).equals(FILE)).toBe(true);
  expect(await place.names()).toEqual([NAME]);
}

/** Settles when the server has sent so many pieces of an answer; it may hold the rest back until it is told. */
function sent(pieces: number, holdBack: boolean): { moment: Promise<void>; goOn: () => void } {
  let goOn = () => {};
  const told = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const moment = new Promise<void>((resolve) => {
    onSent = (now) => {
      if (now >= pieces) resolve();
      return holdBack && now >= pieces ? told : undefined;
    };
  });
  return { moment, goOn };
}

test(`SIGKILL at ${ROUNDS} random moments`, { timeout: 180_000 + ROUNDS * 10_000 }, async () => {
  let [broken, certain] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    const place = await workplace();
    const old = round % 2 === 1;
    if (old) await writeFile(join(place.path, NAME), OLD);
    // From the head to behind the last piece, however slow the machine is: before it nothing is at stake.
    const pieces = round % (PIECES + 1);
    // Every third one can't be faster than the kill.
    const holdBack = round % 3 === 0 && pieces < PIECES;
    const { moment, goOn } = sent(pieces, holdBack);
    const running = place.start(arguments_(old), serviceAt(server.url));
    await Promise.race([moment, running.ended]);
    await sleep(Math.random() * 20);
    running.kill('SIGKILL');
    const { killedBy } = await running.ended;
    onSent = () => undefined;
    goOn();
    if (holdBack) certain += 1;
    if (killedBy === 'SIGKILL' && (await place.names()).some((name) => name.endsWith('.part'))) broken += 1;
    await expectSoundThenComplete(place, old);
  }
  expect(broken).toBeGreaterThanOrEqual(Math.max(1, certain));
});

/** What a line of strace means for the file, if anything. */
function step(call: string, directory: string): string[] {
  const [, name = '', rest = ''] = /^\d+ +(\w+)\((.*)/.exec(call) ?? [];
  if (/^p?writev?(64)?$/.test(name)) {
    if (rest.startsWith('2<')) return rest.includes(`${NAME}: `) ? ['tell'] : [];
    return rest.includes('.part>') ? ['write part'] : rest.includes('.resume>') ? ['write record'] : [];
  }
  if (name === 'fsync') {
    if (rest.includes('.part>')) return ['flush part'];
    return rest.includes(`<${directory}>`) ? ['flush directory'] : [];
  }
  if (name === 'unlink') return [rest.includes('.resume"') ? 'drop record' : 'drop part'];
  return name === 'link' || name === 'rename' ? ['place'] : [];
}

/** Before the call takes effect, and behind it. */
const [BEFORE, BEHIND] = ['error=EIO:signal=KILL', 'signal=KILL'];

/** Those that `npm test` runs stand first: one of each call, then the rest. */
const KILLS: [call: string, when: number, old: boolean][] = [
  ['pwritev,pwrite64', 3, false],
  // The file's, the directory's.
  ['fsync', 1, false],
  ['fsync', 2, true],
  // The record goes before the file is placed, the part's own name after it.
  ['unlink', 2, false],
  ['link', 1, false],
  ['rename', 1, true],
  ['pwritev,pwrite64', 1, false],
  ['pwritev,pwrite64', 3, true],
  ['fsync', 2, false],
  ['fsync', 1, true],
  ['unlink', 1, false],
  ['unlink', 1, true],
];

describe.runIf(proving)('SIGKILL at a system call (strace)', () => {
  test.each(KILLS)('%s, the time %i, an old file there: %s', async (call, when, old) => {
    for (const moment of [BEFORE, BEHIND]) {
      const place = await workplace();
      if (old) await writeFile(join(place.path, NAME), OLD);
      const options = `-e trace=${call} -e inject=${call}:${moment}:when=${when}`;
      const killed = await traced(place, options, arguments_(old), serviceAt(server.url));
      // strace ends as the program did.
      expect(killed.killedBy, killed.stderr).toBe('SIGKILL');
      await expectSoundThenComplete(place, old);
    }
  });

  test('the order: record, bytes, flush, place, flush of the directory, and only then "saved"', async () => {
    for (const old of [false, true]) {
      const place = await workplace();
      if (old) await writeFile(join(place.path, NAME), OLD);
      const log = join(place.home, 'calls');
      const calls = 'trace=pwritev,pwrite64,write,writev,fsync,link,rename,unlink';
      const line = `strace -f -y -s 200 -o ${log} -e ${calls} ${NODE} ${BIN} ${arguments_(old).join(' ')}`;
      const { exitCode, stderr } = await place.shell(line, { ...serviceAt(server.url), ...(await oneThread(place)) });
      expect(exitCode, stderr).toBe(0);
      const steps = (await readFile(log, 'utf8')).split('\n').flatMap((call) => step(call, place.path));
      const once = steps.filter((name, at) => name !== steps[at - 1]);
      const placed = old ? ['place'] : ['place', 'drop part'];
      expect(once).toEqual([
        'write record',
        'write part',
        'flush part',
        'drop record',
        ...placed,
        'flush directory',
        'tell',
      ]);
    }
  });

  test('as a dead part is taken over', async () => {
    for (const moment of proving ? [BEFORE, BEHIND] : [BEHIND]) {
      const place = await workplace();
      const { moment: sentSome, goOn } = sent(3, true);
      const first = place.start(arguments_(false), { ...serviceAt(server.url), ...(await oneThread(place)) });
      await sentSome;
      await until(async () => (await partBytes(place)) > 0);
      first.kill('SIGKILL');
      expect((await first.ended).killedBy).toBe('SIGKILL');
      onSent = () => undefined;
      goOn();
      const options = `-e trace=rename -e inject=rename:${moment}:when=1`;
      const second = await traced(place, options, arguments_(false), serviceAt(server.url));
      expect(second.killedBy, second.stderr).toBe('SIGKILL');
      await expectSoundThenComplete(place, false);
    }
  });
});
