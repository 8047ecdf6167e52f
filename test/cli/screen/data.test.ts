import { mkdir, truncate, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { head } from '../../servers/answers.ts';
import { startArchive } from '../../servers/archive.ts';
import { ACCESSION, until } from '../program.ts';
import { startHeld } from './held.ts';
import { screen } from './screen.ts';

const OTHER = '0001234567-24-000002';

test('lines of --report - stand above the bars, whole', async () => {
  const service = await startHeld();
  const args = ['download', ACCESSION, 'a.htm', 'b.htm', 'c.htm', '--report', '-'];
  const at = await screen(args, { env: service.env, size: { columns: 300, rows: 24 } });
  await at.shows((lines) => lines.filter((line) => line.includes('66%')).length === 3);
  service.release('b.htm');
  const lines = await at.shows((now) => now.some((line) => /^1 of 3 files/.test(line)));
  expect(lines.slice(0, 2).sort()).toEqual([
    'b.htm: 3.0 MB',
    expect.stringMatching(/^\{"v":1,.*"file_name":"b\.htm".*\}$/),
  ]);
  expect(lines.slice(2)).toEqual([
    expect.stringMatching(/^1 of 3 files/),
    expect.stringMatching(/^a\.htm .* 66%/),
    expect.stringMatching(/^c\.htm .* 66%/),
  ]);
  service.release('a.htm');
  service.release('c.htm');
  expect(await at.ended).toBe(0);
  const records = at.lines().filter((line) => line.startsWith('{'));
  expect(records.map((line) => Object.keys(JSON.parse(line)).length > 1)).toEqual([true, true, true, true]);
  expect(at.lines()).toHaveLength(8);
  expect(at.lines().join('\n')).not.toMatch(/%/);
});

test('-o - of a text whose last line has no end: no byte of it is drawn over', async () => {
  let socket: Socket | undefined;
  const body = 'the first line\nthe second line\nthe last';
  const service = await startArchive(
    {},
    {
      instead(to) {
        socket = to;
        to.write(`${head(200, { 'Content-Length': body.length, ETag: '"v1"' })}the first line\nthe sec`);
        return true;
      },
    },
  );
  const size = { columns: 300, rows: 40 };
  const at = await screen(['download', ACCESSION, 'a.txt', '-o', '-', '-v'], { env: service.env, size });
  const told = (lines: readonly string[]) => lines.filter((line) => !/^[<>] /.test(line));
  await at.shows((lines) => lines.includes('the sec'));
  socket?.write('ond line\n');
  // The line is whole: there is room for the bar below it.
  const drawn = await at.shows((lines) => lines.some((line) => /^a\.txt .*%/.test(line)));
  expect(told(drawn)).toEqual(['the first line', 'the second line', expect.stringMatching(/^a\.txt .*%/)]);
  socket?.write('the last');
  expect(await at.ended).toBe(0);
  expect(told(at.lines())).toEqual(['the first line', 'the second line', 'the last', `a.txt: ${body.length} B`]);
});

test('list writes its tables where a wait was shown, and the wait is gone', async () => {
  const service = await startArchive(
    { [ACCESSION]: { 'a.htm': 'a' }, [OTHER]: { 'b.htm': 'b' } },
    {
      instead(socket, { accession, before }) {
        if (accession !== OTHER || before > 0) return false;
        socket.write(head(503, { 'Retry-After': '1', 'Content-Length': 0 }));
        return true;
      },
    },
  );
  const at = await screen(['list', ACCESSION, OTHER], { env: service.env, size: { columns: 200, rows: 20 } });
  // It is there for a second, and somebody who looks now and then may miss it.
  await until(() => at.bytes().includes('the service asks to wait 1 s, 1 of 5'));
  expect(await at.ended).toBe(0);
  expect(at.lines().filter((line) => !/^(ACCESSION|FILING)/i.test(line))).toEqual([
    expect.stringMatching(/a\.htm/),
    expect.stringMatching(/b\.htm/),
  ]);
});

test('what verify finds stands above its bar', async () => {
  const script = 'while ! [ -e ready ]; do sleep 0.01; done; exec $FILINGS verify there --jobs 2';
  const at = await screen([], { script });
  const there = join(at.path, 'there');
  await mkdir(there);
  const names = ['a.htm', 'b.htm', 'c.htm'];
  for (const name of names) await writeFile(join(there, name), 'changed');
  // Takes long to hash, and no room on the disk.
  await truncate(join(there, 'a.htm'), 200e9);
  await writeFile(join(there, 'SHA256SUMS'), names.map((name) => `${'0'.repeat(64)}  ${name}\n`).join(''));
  await writeFile(join(at.path, 'ready'), '');
  const isBar = (line: string) => /^verified +[\d.]+ \w+ +[\d.]+ \w?B\/s$/.test(line);
  const lines = await at.shows((now) => now.length === 3 && now.some(isBar));
  expect(lines.slice(0, 2).sort()).toEqual([
    expect.stringMatching(/^changed +there\/b\.htm$/),
    expect.stringMatching(/^changed +there\/c\.htm$/),
  ]);
  expect(lines[2]).toMatch(/^verified /);
});
