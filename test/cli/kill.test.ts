import { expect } from 'vitest';
import { head, sendFile } from '../servers/answers.ts';
import { scripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, serviceAt, test } from './program.ts';

const FILE = content(4_500_000);
const NAME = 'primary.htm';
const GET = ['download', ACCESSION, NAME];

// Here the kill falls into the body. test/prove/power-cut has each state between two calls.
test.for([
  { what: 'without an old file', old: [], args: GET },
  { what: 'over an old file', old: [NAME], args: [...GET, '--if-exists', 'overwrite'] },
])(
  'SIGKILL during a body $what leaves no torn file, and the next run completes it',
  async ({ old, args }, { place }) => {
    for (const name of old) await place.write(name, 'the old file');
    const server = await scripted((socket, request) => {
      if (request.index > 0) return sendFile(socket, request, FILE, '"v1"');
      socket.write(head(200, { 'Content-Length': FILE.length, ETag: '"v1"' }));
      socket.write(FILE.subarray(0, 3_000_000));
    });
    const running = place.start(args, serviceAt(server.url));
    await place.haveParts(running, 3_000_000);
    running.kill('SIGKILL');
    expect((await running.ended).killedBy).toBe('SIGKILL');
    const parts = [expect.stringMatching(/^\.primary\.htm\.\w{8}\.filings-part$/)];
    expect(await place.names()).toEqual([...parts, ...old]);
    for (const name of old) expect(`${await place.read(name)}`).toBe('the old file');
    const { exitCode, stderr } = await place.filings(args, serviceAt(server.url));
    expect([exitCode, (await place.read(NAME)).equals(FILE)], stderr).toEqual([0, true]);
    // The part of the killed run stays for a day.
    expect(await place.names()).toEqual([...parts, NAME]);
  },
);
