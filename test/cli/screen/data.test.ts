import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { head } from '../../servers/answers.ts';
import { scripted } from '../../servers/scripted.ts';
import { ACCESSION, serviceAt, until } from '../program.ts';
import { longToHash, startPaused } from './held.ts';
import { screen } from './screen.ts';

test('--report - to a terminal draws no bar between its lines', async () => {
  const service = await startPaused();
  const args = ['download', ACCESSION, 'a.htm', 'b.htm', 'c.htm', '--report', '-'];
  const at = await screen(args, { env: service.env, size: { columns: 300, rows: 24 } });
  for (const name of ['b.htm', 'a.htm', 'c.htm']) {
    await until(() => service.requests.some(({ path }) => path.includes(name)));
    service.release(name);
  }
  expect(await at.ended).toBe(0);
  const records = at.lines().filter((line) => line.startsWith('{'));
  expect(records.map((line) => Object.keys(JSON.parse(line)).length > 1)).toEqual([true, true, true, true]);
  // The records and the line of the batch.
  expect(at.lines()).toHaveLength(5);
  expect(at.bytes()).not.toContain('%');
});

// A bar would be drawn as soon as bytes arrive.
test('--output - to a terminal draws no bar over the text', async () => {
  const sockets: Socket[] = [];
  const server = await scripted((socket) => {
    sockets.push(socket);
    socket.write(`${head(200, { 'Content-Length': 39 })}the first line\nthe sec`);
  });
  const at = await screen(['download', ACCESSION, 'a.txt', '-o', '-'], { env: serviceAt(server.url) });
  await at.shows(/^the sec$/);
  sockets[0]?.write('ond line\nthe last');
  expect(await at.ended).toBe(0);
  expect(at.bytes()).not.toContain('\x1b');
  expect(at.lines()).toEqual(['the first line', 'the second line', 'the lasta.txt: 39 B']);
});

test('verify prints its findings above its bar', async () => {
  const prepare = (path: string) => longToHash(path, ['a.htm', 'b.htm', 'c.htm']);
  const at = await screen(['verify', 'there'], { prepare });
  const lines = await at.shows((now) => now.length === 3 && /^verified +[\d.]+ \w+ +[\d.]+ \w?B\/s/.test(now[2] ?? ''));
  expect(lines.slice(0, 2).sort()).toEqual(['a', 'b'].map((name) => `changed there/${name}.htm`));
});
