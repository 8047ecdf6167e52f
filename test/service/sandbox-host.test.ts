import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { ACCESSION, download, type Running, sandbox } from './sandbox-fixture.ts';

const KEY = 'a-key-of-its-own';
const TARGET = `${download('a.txt')}&apikey=${KEY}`;
const start = (host = '127.0.0.1') => sandbox({ [`${ACCESSION}/a.txt`]: 'alpha' }, { apiKey: KEY, host });

/** One request as a browser or an attacker would write it. */
async function ask({ port }: Running, fields: readonly string[], target = TARGET): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write([`GET ${target} HTTP/1.1`, ...fields, 'Connection: close', '', ''].join('\r\n'));
  return text(socket);
}

describe('on loopback', () => {
  test.each(['127.0.0.1', '127.1.2.3', 'localhost', 'LOCALHOST', '[::1]'])('Host: %s comes in', async (name) => {
    const running = await start();
    // A port that was forwarded is another than the one listened on.
    for (const host of [name, `${name}:${running.port}`, `${name}:9`]) {
      expect(await ask(running, [`Host: ${host}`])).toMatch(/^HTTP\/1\.1 200 .*alpha$/s);
    }
  });

  test.each([
    'evil.example',
    'x.localhost',
    'localhost.',
    '127.0.0.1.evil.example',
    'localhost@evil.example',
    '192.0.2.1',
    '[::]',
    '[::1]x',
    '127.0.0.1:8787:1',
    '0',
  ])('Host: %s does not', async (host) => {
    const running = await start();
    for (const field of [host, `${host}:${running.port}`]) {
      const answer = await ask(running, [`Host: ${field}`]);
      expect(answer).toMatch(/^HTTP\/1\.1 421 .*application\/problem\+json.*"status":421/s);
      expect(answer).not.toContain('alpha');
    }
    expect(running.lines[0]).toMatch(/ 421 .*Host must be a loopback name/);
  });
});

test.each<[string, string[]]>([
  ['no Host', []],
  ['an empty one', ['Host:']],
  ['two', ['Host: localhost', 'Host: evil.example']],
  ['the same twice', ['Host: localhost', 'host: localhost']],
])('%s is a mistake wherever it listens', async (_, fields) => {
  for (const listening of ['127.0.0.1', '0.0.0.0']) {
    const answer = await ask(await start(listening), fields);
    expect(answer).toMatch(/^HTTP\/1\.1 400 .*application\/problem\+json.*"status":400/s);
  }
});

test('beyond loopback every name comes in: whoever gave it one knows it', async () => {
  expect(await ask(await start('0.0.0.0'), ['Host: stand-in.example'])).toMatch(/^HTTP\/1\.1 200 /);
});

const ipv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
test.each(['localhost', ...(ipv6 ? ['::1'] : [])])('listening on %s is loopback, too', async (listening) => {
  const running = await start(listening);
  expect(running.url).toBe(`http://${listening === '::1' ? '[::1]' : listening}:${running.port}`);
  expect((await fetch(`${running.url}${TARGET}`)).status).toBe(200);
});
