import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { batchPlace } from '../program/batch.ts';
import { head } from '../servers/answers.ts';
import { accession, type Instead, startArchive } from '../servers/archive.ts';

const FILINGS = 100;
const FILES = 20;
const FAULTS = ['404', '429', '500', 'cut', 'stall'] as const;
type Fault = (typeof FAULTS)[number];

/** 5 % of the files with each fault but stalls, which cost the idle time-out: 1 % of those. Of each file the same, by its name. */
function faultOf(accessionNumber: string, name: string): Fault | undefined {
  const draw = createHash('sha256').update(`${accessionNumber}/${name}`).digest().readUInt32BE(0) % 1000;
  if (draw < 200) return FAULTS[Math.floor(draw / 50)];
  return draw < 205 ? 'stall' : undefined;
}

const body = (accessionNumber: string, name: string) =>
  Buffer.from(`${accessionNumber}/${name} `.repeat(1 + ((name.length * 7) % 90)));
const nameOf = (n: number) => `f${n}.htm`;

/** Every fault but the 404 is over after the first try; with `forever` none is. */
const faulty =
  (forever: boolean): Instead =>
  (socket, { accession: asked, name, before }) => {
    const fault = name === undefined ? undefined : faultOf(asked, name);
    if (fault === undefined || name === undefined || (fault !== '404' && before > 0 && !forever)) return false;
    const bytes = body(asked, name);
    switch (fault) {
      case '404':
      case '500':
        socket.write(head(Number(fault), { 'Content-Length': 0 }));
        break;
      case '429':
        socket.write(head(429, { 'Content-Length': 0, 'Retry-After': '0' }));
        break;
      case 'cut':
        socket.end(head(200, { 'Content-Length': bytes.length }) + bytes.subarray(0, bytes.length / 2).toString());
        break;
      case 'stall':
        socket.write(head(200, { 'Content-Length': bytes.length }) + bytes.subarray(0, 5).toString());
    }
    return true;
  };

const filings = Object.fromEntries(
  Array.from({ length: FILINGS }, (_, at) => [
    accession(at),
    Object.fromEntries(Array.from({ length: FILES }, (_, n) => [nameOf(n), body(accession(at), nameOf(n))])),
  ]),
);
const all = Object.keys(filings).flatMap((number) =>
  Array.from({ length: FILES }, (_, n) => [number, nameOf(n)] as const),
);

it.each([
  ['is over at the second try', false, ['--retries', '2'], ['404'], 3],
  ['is never over', true, ['--retries', '0'], FAULTS, 3],
] as const)(
  '2,000 files of a service whose trouble %s: each accounted for once, with the right bytes',
  async (_what, forever, retries, lost, code) => {
    const archive = await startArchive(filings, { instead: faulty(forever) });
    const place = await batchPlace(archive.env);
    const keeping = ['--all', '-q', '-d', 'out', '--checksums', '--done', 'done', '--failed', 'failed'];
    const { exitCode, report } = await place.batch(Object.keys(filings), [
      ...keeping,
      '-j',
      '16',
      '--idle-timeout',
      '3s',
      ...retries,
    ]);
    const isLost = (number: string, name: string) =>
      (lost as readonly (Fault | undefined)[]).includes(faultOf(number, name));
    const missed = all.filter((file) => isLost(...file));
    expect(exitCode).toBe(code);
    expect(
      report.files.map((file) => `${file.accession_no}/${file.file_name} ${file.result === 'failed'}`).sort(),
    ).toEqual(all.map(([number, name]) => `${number}/${name} ${isLost(number, name)}`).sort());
    expect(report.summaries).toMatchObject([
      { failed: missed.length, not_started: 0, exit_code: code, requests: archive.requests.length },
    ]);
    for (const [number, name] of all) {
      const there = await readFile(join(place.path, 'out', number, name)).catch(() => undefined);
      if (isLost(number, name)) expect(there).toBeUndefined();
      else expect(there?.equals(body(number, name))).toBe(true);
    }
    expect((await place.read('failed')).toString().split('\n').filter(Boolean).sort()).toEqual(
      missed.map(([number, name]) => `${number} ${name}`).sort(),
    );
    const whole = Object.keys(filings).filter((number) => !missed.some(([one]) => one === number));
    const done = (await place.read('done')).toString().split('\n').filter(Boolean);
    expect(done.map((line) => line.split('\t')[0]).sort()).toEqual(whole.sort());
    expect(
      (await readdir(join(place.path, 'out'), { recursive: true })).filter((name) => name.endsWith('.part')),
    ).toEqual([]);
    expect((await place.filings(['verify', 'out'], archive.env)).exitCode).toBe(0);
  },
);
