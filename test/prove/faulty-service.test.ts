import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { batchPlace } from '../program/batch.ts';
import { head } from '../servers/answers.ts';
import { accession, type Instead, startArchive } from '../servers/archive.ts';
import { treeOf } from './recipes/mirrored.ts';

const FAULTS = ['404', '429', '500', 'cut', 'stall'] as const;
type Fault = (typeof FAULTS)[number];

/**
 * A fault for 5 % of the files each, but a stall for 0.5 %, because it lasts for the idle timeout. The path of a file
 * decides.
 */
function faultOf(path: string): Fault | undefined {
  const draw = createHash('sha256').update(path).digest().readUInt32BE(0) % 1000;
  if (draw < 200) return FAULTS[Math.floor(draw / 50)];
  return draw < 205 ? 'stall' : undefined;
}

const body = (path: string) => `${path} `.repeat(1 + ((path.length * 7) % 90));

/** Every fault except 404 ends after the first request for a file, unless `forever`. */
const faulty =
  (forever: boolean): Instead =>
  (socket, { accession: asked, name, before }) => {
    const fault = name === undefined ? undefined : faultOf(`${asked}/${name}`);
    if (fault === undefined || (fault !== '404' && before > 0 && !forever)) return false;
    const text = body(`${asked}/${name}`);
    const begun = head(200, { 'Content-Length': text.length });
    if (fault === 'cut') socket.end(begun + text.slice(0, text.length / 2));
    else if (fault === 'stall') socket.write(begun + text.slice(0, 5));
    else socket.write(head(Number(fault), { 'Content-Length': 0, ...(fault === '429' && { 'Retry-After': '0' }) }));
    return true;
  };

const names = Array.from({ length: 20 }, (_, n) => `f${n}.htm`);
const numbers = Array.from({ length: 100 }, (_, at) => accession(at));
const filings = Object.fromEntries(
  numbers.map((number) => [number, Object.fromEntries(names.map((name) => [name, body(`${number}/${name}`)]))]),
);
const all = numbers.flatMap((number) => names.map((name) => `${number}/${name}`));

test.for([
  { what: 'recover at the second try', forever: false, retries: '2', lost: ['404'] },
  { what: 'never recover', forever: true, retries: '0', lost: [...FAULTS] },
])('a mirror of 2,000 files reports each file once, and is right, if the faults $what', async (row) => {
  const archive = await startArchive(filings, { instead: faulty(row.forever) });
  const place = await batchPlace(archive.env);
  const keeping = '--all -q -d out --checksums --done done --failed failed -j 16 --idle-timeout 3s --retries';
  const { exitCode, report } = await place.batch(numbers, [...keeping.split(' '), row.retries]);
  const isLost = (path: string) => row.lost.includes(faultOf(path) ?? 'none');
  const [missed, got] = [all.filter(isLost), all.filter((path) => !isLost(path))];
  const lines = report.files.map((file) => `${file.accession_no}/${file.file_name} ${file.result === 'failed'}`);
  expect(lines.sort()).toEqual(all.map((path) => `${path} ${isLost(path)}`).sort());
  const summary = { failed: missed.length, not_started: 0, exit_code: 3, requests: archive.requests.length };
  expect([exitCode, ...report.summaries]).toMatchObject([3, summary]);
  // No other file exists, such as a part.
  const files = Object.entries(await treeOf(place.at('out'))).filter(([path]) => !path.endsWith('SHA256SUMS'));
  expect(Object.fromEntries(files)).toEqual(Object.fromEntries(got.map((path) => [path, body(path)])));
  const linesOf = async (name: string) => `${await place.read(name)}`.split('\n').filter(Boolean).sort();
  expect(await linesOf('failed')).toEqual(missed.map((path) => path.replace('/', ' ')).sort());
  const whole = numbers.filter((number) => !missed.some((path) => path.startsWith(number)));
  expect((await linesOf('done')).map((line) => line.split('\t')[0])).toEqual(whole.sort());
  expect((await place.filings(['verify', 'out'], archive.env)).exitCode).toBe(0);
});
