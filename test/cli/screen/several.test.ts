import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ACCESSION } from '../program.ts';
import { startHeld } from './held.ts';
import { screen } from './screen.ts';

test('above the running files stands how far all of them are', async () => {
  const names = Array.from({ length: 11 }, (_, index) => `f${index}.htm`);
  const service = await startHeld(names);
  const at = await screen(['download', ACCESSION, '--all', '-j', '3'], {
    env: service.env,
    size: { columns: 90, rows: 24 },
  });
  const bars = (lines: readonly string[]) => lines.filter((line) => line.includes('66%')).length;
  await at.shows((lines) => bars(lines) === 3 && /^0 of 11 files +6\.0 MB +[\d.]+ \w?B\/s$/.test(lines[0] ?? ''));
  for (const name of names.slice(0, 3)) service.release(name);
  const lines = await at.shows((now) => bars(now) === 3 && now.some((line) => /^3 of 11 files +15 MB/.test(line)));
  expect(lines.slice(0, 3).sort()).toEqual([0, 1, 2].map((index) => `${ACCESSION}/f${index}.htm: 3.0 MB`));
  expect(
    lines
      .slice(4)
      .map((line) => line.split(' ')[0])
      .sort(),
  ).toEqual(['f3.htm', 'f4.htm', 'f5.htm']);
});

test('of an input whose end nobody knows, what is known is told', async () => {
  const service = await startHeld();
  const at = await screen([], {
    env: service.env,
    script: 'mkfifo in && exec $FILINGS download --input in -j 2',
    size: { columns: 90, rows: 24 },
  });
  const fifo = await openForWriting(join(at.path, 'in'));
  onTestFinished(() => fifo.close());
  await fifo.write(`${ACCESSION} a.htm\n${ACCESSION} b.htm\n`);
  await at.shows((lines) => lines.filter((line) => line.includes('66%')).length === 2);
  service.release('a.htm');
  await at.shows((lines) => lines.some((line) => /^1 files? so far +5\.0 MB +[\d.]+ \w?B\/s$/.test(line)));
});

test('no more lines than the terminal has, and nothing scrolls', async () => {
  const names = Array.from({ length: 9 }, (_, index) => `f${index}.htm`);
  const service = await startHeld(names);
  const at = await screen(['download', ACCESSION, '--all', '-j', '9'], {
    env: service.env,
    size: { columns: 60, rows: 5 },
  });
  const lines = await at.shows(
    (now) => now.filter((line) => line.includes('66%')).length === 3 && /18 MB/.test(now[0] ?? ''),
  );
  expect(lines).toHaveLength(4);
});

/** Opens a FIFO as soon as it is there and somebody reads it. */
async function openForWriting(path: string) {
  for (;;) {
    const handle = await open(path, 'r+').catch(() => undefined);
    if (handle) return handle;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
