import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openInput } from '../../src/batch/input.ts';
import { readBatches } from '../../src/batch/input-lines.ts';

const asked = '0001234567-24-000001';
let place: string;
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'filings-input-'));
  await writeFile(join(place, 'plain'), `${asked}\n${asked} a.htm`);
  await mkdir(join(place, 'folder'));
  execFileSync('mkfifo', [join(place, 'fifo'), join(place, 'idle')]);
});
afterAll(() => rm(place, { recursive: true }));

const note = () => {};
const from = (path: string) => openInput(path, { stdin: new PassThrough(), cwd: place }, note);

async function numbers(bytes: AsyncIterable<Uint8Array | string>): Promise<number[]> {
  const seen: number[] = [];
  for await (const batch of readBatches(bytes, () => {})) seen.push(...batch.map(({ number }) => number));
  return seen;
}

describe('openInput', () => {
  test('a file is read to its end, and is no stream', async () => {
    const { bytes, isStream } = from('plain');
    expect(await numbers(bytes)).toEqual([1, 2]);
    expect([isStream, from('/proc/self/status').isStream]).toEqual([false, false]);
  });

  test('a FIFO is a stream', async () => {
    const { bytes, isStream } = from('fifo');
    const writer = await open(join(place, 'fifo'), 'w');
    await writer.write(`${asked}\n`);
    await writer.close();
    expect([await numbers(bytes), isStream]).toEqual([[1], true]);
  });

  test('stdin is a stream where it does not come from a file', () => {
    const fd = openSync(join(place, 'plain'), 'r');
    const stdin = Object.assign(new PassThrough(), { fd });
    expect(openInput('-', { stdin, cwd: place }, note).isStream).toBe(false);
    closeSync(fd);
    expect(openInput('-', { stdin: new PassThrough(), cwd: place }, note).isStream).toBe(true);
  });

  test.each([
    ['missing', 'missing: no such file or directory (ENOENT)'],
    ['plain/below', 'plain/below: not a directory (ENOTDIR)'],
    ['folder', 'folder: it is a directory'],
  ])('%s is a usage error', async (path, message) => {
    expect(() => from(path)).toThrow(expect.objectContaining({ code: 'usage', message: `--input ${message}` }));
  });

  test('a directory as stdin, too', async () => {
    const fd = openSync(place, 'r');
    const stdin = Object.assign(new PassThrough(), { fd });
    expect(() => openInput('-', { stdin, cwd: place }, note)).toThrow(expect.objectContaining({ code: 'usage' }));
    closeSync(fd);
  });

  test('closing it ends the reading of an idle pipe', async () => {
    const { bytes, close } = from('idle');
    const reading = numbers(bytes);
    setImmediate(close);
    await expect(reading).rejects.toThrow();
  });

  test('a person at a terminal is told that stdin is read', () => {
    const notes: string[] = [];
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    openInput('-', { stdin, cwd: place }, (text) => notes.push(text)).close();
    expect(notes).toEqual([expect.stringMatching(/stdin.*Ctrl-D/)]);
    expect(stdin.destroyed).toBe(true);
  });
});
