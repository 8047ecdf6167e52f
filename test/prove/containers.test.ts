import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Owner } from '../../src/transfer/part/owner.ts';
import { parsePartName } from '../../src/transfer/part/owner.ts';
import { ACCESSION, serviceAt, until, type Workplace, workplace } from '../cli/program.ts';
import { head, rangeStart, sendFile } from '../servers/answers.ts';
import { startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { container, obstacle } from './container.ts';

// Containers over one directory: mount, host-name and process namespaces of their own, as far as they can be made here.
const FILE = content(3_000_000);
const HELD_BACK = 2_000_000;
const NAME = 'primary.htm';
const ARGS = ['download', ACCESSION, NAME, '--if-exists', 'overwrite'];

const OWN = ['--pid', '--uts'];

const NO_PROC = 'mount -t tmpfs none /proc';
/** What of an owner can't be known there. */
type Unknown = readonly (keyof Owner)[];
type Container = readonly [name: string, one: string[], other: string[], unknown?: Unknown];
const twice = (name: string, namespaces: readonly string[], setUp: string, unknown: Unknown = []): Container => {
  const both = container(namespaces, setUp);
  return [name, both, both, unknown];
};
const NOTHING: Unknown = ['machine', 'started'];
const CONTAINERS: readonly Container[] = [
  twice('of one name, each with its /proc', OWN, 'hostname same; mount -t proc proc /proc'),
  [
    'of two names, each with its /proc',
    container(OWN, 'hostname one; mount -t proc proc /proc'),
    container(OWN, 'hostname other; mount -t proc proc /proc'),
  ],
  [
    'of two names in one process namespace',
    container(['--uts'], 'hostname one'),
    container(['--uts'], 'hostname other'),
  ],
  twice('without /proc, in one process namespace', ['--uts'], `hostname same; ${NO_PROC}`, NOTHING),
  twice('without /proc, each with the same numbers', OWN, `hostname same; ${NO_PROC}`, NOTHING),
  twice('with a part of /proc (subset=pid)', OWN, 'hostname same; mount -t proc -o subset=pid proc /proc', ['machine']),
  twice(
    'with a part of /proc, in one process namespace',
    ['--uts'],
    'hostname same; mount -t proc -o subset=pid proc /proc',
    ['machine'],
  ),
  twice('with the /proc of another process namespace', OWN, 'hostname same', ['started']),
];

const possible = await Promise.all(
  CONTAINERS.map(async ([name, one, other, unknown = []]) => ({
    name,
    one,
    other,
    unknown,
    why: (await obstacle(one)) ?? (await obstacle(other)),
  })),
);

/** Sends the first of all requests a part of the file, and the rest when it is told. */
async function paused() {
  let goOn = () => {};
  const released = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const server = await startScripted(async (socket, request) => {
    if (request.index > 0) return sendFile(socket, request, FILE, '"v1"');
    socket.write(head(200, { ETag: '"v1"', 'Content-Length': FILE.length }));
    socket.write(FILE.subarray(0, HELD_BACK));
    await released;
    socket.write(FILE.subarray(HELD_BACK));
  });
  onTestFinished(() => server.close());
  return { server, goOn };
}

const partOf = async (place: Workplace) => (await place.names()).find((name) => name.endsWith('.part'));

/** A run in a container that has written what the server has sent. */
async function halfDone(place: Workplace, url: string, within: readonly string[]) {
  const running = place.start(ARGS, serviceAt(url), within);
  const size = async () => {
    const part = await partOf(place);
    return part === undefined ? 0 : (await place.read(part)).length;
  };
  await until(async () => (await size()) === HELD_BACK);
  return { running, part: (await partOf(place)) ?? '' };
}

describe.each(possible)('containers $name', ({ one, other, unknown, why }) => {
  test.skipIf(why !== undefined)(
    `two runs at once: neither touches the other’s part, both are right${why === undefined ? '' : ` (can’t be made here: ${why})`}`,
    async () => {
      const { server, goOn } = await paused();
      const place = await workplace();
      const { running, part } = await halfDone(place, server.url, one);
      const found = parsePartName(part);
      const unread = Object.entries(found?.kind === 'part' ? found.owner : {}).flatMap(([member, value]) =>
        value === undefined ? [member] : [],
      );
      expect(unread).toEqual(unknown);
      const second = await place.start(ARGS, serviceAt(server.url), other).ended;
      expect(second.exitCode, second.stderr).toBe(0);
      expect(server.requests.map(rangeStart)).toEqual([undefined, undefined]);
      expect((await place.read(NAME)).equals(FILE)).toBe(true);
      expect((await place.names()).filter((name) => !name.endsWith('.resume')).sort()).toEqual([part, NAME].sort());
      goOn();
      const first = await running.ended;
      expect(first.exitCode, first.stderr).toBe(0);
      expect((await place.read(NAME)).equals(FILE)).toBe(true);
      expect(await place.names()).toEqual([NAME]);
    },
  );

  test.skipIf(why !== undefined)(
    'one is killed, the next is right, at once and when the part has not been touched for long',
    async () => {
      for (const age of [0, 90_000]) {
        const { server } = await paused();
        const place = await workplace();
        const { running } = await halfDone(place, server.url, one);
        running.kill('SIGKILL');
        await running.ended;
        const time = Date.now() / 1000 - age;
        if (age > 0) for (const name of await place.names()) await utimes(join(place.path, name), time, time);
        const next = await place.start(ARGS, serviceAt(server.url), other).ended;
        expect(next.exitCode, next.stderr).toBe(0);
        expect((await place.read(NAME)).equals(FILE)).toBe(true);
        if (age > 0) expect(await place.names()).toEqual([NAME]);
      }
    },
  );
});
