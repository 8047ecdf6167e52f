import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { errnoOf } from '../../src/errors.ts';
import { type ByteWriter, pathWriter, stdoutWriter } from '../../src/stdio/byte-writer.ts';
import { content, temporaryDirectory } from './transfer-fixture.ts';

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
/** Many times what a pipe holds. */
const FILE = content(1_000_000);
const { signal } = new AbortController();
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A FIFO, and its reader. */
async function fifo() {
  const path = join(await temporaryDirectory(), 'fifo');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, O_RDONLY | O_NONBLOCK);
  let isOpen = true;
  const close = () => {
    if (isOpen) closeSync(reader);
    isOpen = false;
  };
  onTestFinished(close);
  /** Reads what is there, so many bytes at most. */
  const take = (most: number): Buffer => {
    const buffer = Buffer.alloc(most);
    try {
      return buffer.subarray(0, readSync(reader, buffer));
    } catch (error) {
      if (errnoOf(error) !== 'EAGAIN') throw error;
      return buffer.subarray(0, 0);
    }
  };
  /** Reads so many bytes, as they come. */
  const drain = async (size: number): Promise<Buffer> => {
    const parts: Buffer[] = [];
    for (let left = size; left > 0; left -= parts.at(-1)?.length ?? 0) {
      parts.push(take(left));
      await turn();
    }
    return Buffer.concat(parts);
  };
  return { path, close, take, drain };
}

type Fifo = Awaited<ReturnType<typeof fifo>>;

/** The signal that ended a write which nobody read. */
async function givenUp(writer: ByteWriter): Promise<AbortSignal> {
  const controller = new AbortController();
  const writing = writer.write([FILE], controller.signal);
  controller.abort(new Error('enough'));
  await expect(writing).rejects.toThrow('enough');
  return controller.signal;
}

/** Standard output as the program has it, in a pipe. */
function stdoutIn({ path }: Fifo): ByteWriter {
  const ownFd = openSync(path, O_WRONLY | O_NONBLOCK);
  const stream = new Socket({ fd: ownFd, readable: false, writable: true });
  onTestFinished(() => void stream.destroy());
  return stdoutWriter(Object.assign(stream, { fd: ownFd, ownFd }));
}

/** As standard output, and by its path. */
const WAYS: [string, (pipe: Fifo) => ByteWriter | Promise<ByteWriter>][] = [
  ['stdout', stdoutIn],
  ['a FIFO', ({ path }) => pathWriter(path, signal)],
];

describe.each(WAYS)('a pipe that nobody reads: %s', (_, open) => {
  test('takes the rest when it is read again, while other things have their turn', async () => {
    const pipe = await fifo();
    const writer = await open(pipe);
    let written = false;
    const writing = writer.write([FILE.subarray(0, 300_000), FILE.subarray(300_000)], signal).then(() => {
      written = true;
    });
    // Taken at once, in the very call.
    const first = pipe.take(FILE.length);
    expect(first.length).toBeGreaterThan(0);
    for (let turns = 0; turns < 5; turns += 1) await turn();
    expect(written).toBe(false);
    const rest = await pipe.drain(FILE.length - first.length);
    await writing;
    expect(Buffer.concat([first, rest]).equals(FILE)).toBe(true);
    await writer.end();
  });

  test('holds nothing beyond the signal, and what is written then goes behind what waits', async () => {
    const pipe = await fifo();
    const writer = await open(pipe);
    const given = await givenUp(writer);
    await expect(writer.write([FILE], given)).rejects.toThrow('enough');
    // There is room now, and the loop has had no turn to fill it.
    const first = pipe.take(FILE.length);
    const last = writer.write([Buffer.from('last words')], signal);
    const rest = await pipe.drain(FILE.length - first.length + 10);
    await last;
    expect(Buffer.concat([first, rest]).equals(Buffer.concat([FILE, Buffer.from('last words')]))).toBe(true);
    await writer.end();
  });

  test('does not hold its end once the signal has come', async () => {
    const pipe = await fifo();
    const writer = await open(pipe);
    await givenUp(writer);
    await writer.end();
    // What it took stays, and is the beginning.
    const taken = pipe.take(FILE.length);
    expect(FILE.subarray(0, taken.length).equals(taken)).toBe(true);
  });

  test('whose reader goes away ends as by SIGPIPE, and its number is never written to again', async () => {
    const pipe = await fifo();
    const writer = await open(pipe);
    const writing = writer.write([FILE], signal);
    pipe.close();
    await expect(writing).rejects.toMatchObject({ code: 'interrupted', exitStatus: 141 });
    // Closed by now: the next files get its number.
    await turn();
    const other = join(await temporaryDirectory(), 'other');
    const files = Array.from({ length: 20 }, (_, i) => openSync(`${other}${i}`, 'w'));
    await expect(writer.write([FILE], signal)).rejects.toThrow();
    for (const [i, file] of files.entries()) {
      closeSync(file);
      expect(readFileSync(`${other}${i}`).length).toBe(0);
    }
  });
});

test.each(WAYS)('%s: a reader that goes away behind the last byte is no failure', async (_, open) => {
  const pipe = await fifo();
  const writer = await open(pipe);
  await writer.write([Buffer.from('all')], signal);
  pipe.close();
  await writer.end();
});

test('a pipe whose reader went away before ends as by SIGPIPE', async () => {
  const pipe = await fifo();
  const writer = stdoutIn(pipe);
  pipe.close();
  await expect(writer.write([FILE], signal)).rejects.toMatchObject({ code: 'interrupted', exitStatus: 141 });
});
