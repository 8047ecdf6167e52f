import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openInput } from '../../src/batch/input.ts';
import { readBatches } from '../../src/batch/input-lines.ts';
import { FilingsError } from '../../src/errors.ts';

const asked = '0001234567-24-000001';
const never = new AbortController().signal;
let place: string;
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'filings-input-'));
  await writeFile(join(place, 'plain'), `${asked}\n${asked} a.htm`);
  await mkdir(join(place, 'folder'));
  execFileSync('mkfifo', [join(place, 'fifo'), join(place, 'idle')]);
});
afterAll(() => rm(place, { recursive: true }));

const from = (path: string, signal = never) => openInput(path, { stdin: new PassThrough(), cwd: place }, signal);

async function numbers(bytes: AsyncIterable<Uint8Array | string>): Promise<number[]> {
  const seen: number[] = [];
  for await (const batch of readBatches(bytes, () => {})) seen.push(...batch.map(({ number }) => number));
  return seen;
}

describe('openInput', () => {
  test('a file is read as a stream, and its size is known; the last line ends there', async () => {
    const { bytes, size } = await from('plain');
    const ends: number[] = [];
    for await (const batch of readBatches(bytes, () => {})) ends.push(...batch.map(({ end }) => end));
    expect(size).toBe(47);
    expect(ends).toEqual([21, 47]);
  });

  test('a FIFO has no size, and neither has a file of the system', async () => {
    const { bytes, size } = await from('fifo');
    const writer = await open(join(place, 'fifo'), 'w');
    await writer.write(`${asked}\n`);
    await writer.close();
    expect(await numbers(bytes)).toEqual([1]);
    expect(size).toBeUndefined();
    const status = await from('/proc/self/status');
    expect(status.size).toBeUndefined();
    status.close();
  });

  test('stdin has the size of the file it comes from', async () => {
    const fd = openSync(join(place, 'plain'), 'r');
    const stdin = Object.assign(new PassThrough(), { fd });
    const input = await openInput('-', { stdin, cwd: place }, never);
    closeSync(fd);
    expect(input.size).toBe(47);
    expect((await openInput('-', { stdin: new PassThrough(), cwd: place }, never)).size).toBeUndefined();
  });

  test.each([
    ['missing', 'missing: no such file'],
    ['plain/below', 'plain/below: no such file'],
    ['folder', 'folder: it is a directory'],
  ])('%s is a usage error', async (path, message) => {
    await expect(from(path)).rejects.toMatchObject({ code: 'usage', message: `--input ${message}` });
  });

  test('a directory as stdin, too', async () => {
    const fd = openSync(place, 'r');
    const stdin = Object.assign(new PassThrough(), { fd });
    await expect(openInput('-', { stdin, cwd: place }, never)).rejects.toMatchObject({ code: 'usage' });
    closeSync(fd);
  });

  test('a signal ends the reading of an idle pipe with its reason', async () => {
    const controller = new AbortController();
    const { bytes } = await from('idle', controller.signal);
    const reason = new FilingsError('interrupted', 'x', { signal: 2 });
    const reading = numbers(bytes);
    setImmediate(() => controller.abort(reason));
    await expect(reading).rejects.toBe(reason);
  });

  test('closing it does so, too', async () => {
    const stdin = new PassThrough();
    const { close } = await openInput('-', { stdin, cwd: place }, never);
    close();
    expect(stdin.destroyed).toBe(true);
  });
});
