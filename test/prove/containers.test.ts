import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parsePartName } from '../../src/transfer/part/owner.ts';
import { ACCESSION, serviceAt, until, type Workplace, workplace } from '../cli/program.ts';
import { head, rangeStart, sendFile } from '../servers/answers.ts';
import { scripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { container } from './container.ts';

// Runs in different containers share a directory. They have their own mount, host name and process namespaces, as far
// as the machine allows it.
const FILE = content(3_000_000);
const HELD_BACK = 2_000_000;
const NAME = 'primary.htm';
const ARGS = ['download', ACCESSION, NAME, '--if-exists', 'overwrite'];

const OWN = ['--pid', '--uts'];
/** `isKnown` is true if the owner of a part can be read in these containers. */
type Container = readonly [name: string, one: string[], other: string[], isKnown: boolean];
const twice = (name: string, namespaces: readonly string[], setUp: string, isKnown: boolean): Container => {
  const both = container(namespaces, setUp);
  return [name, both, both, isKnown];
};
const CONTAINERS: readonly Container[] = [
  twice('of one name, each with its /proc', OWN, 'hostname same; mount -t proc proc /proc', true),
  ['of two names', container(['--uts'], 'hostname one'), container(['--uts'], 'hostname other'), true],
  twice('without /proc', OWN, 'hostname same; mount -t tmpfs none /proc', false),
  twice('with a part of /proc', OWN, 'hostname same; mount -t proc -o subset=pid proc /proc', false),
  twice('with the /proc of another process namespace', OWN, 'hostname same', false),
];

/** A server that sends a part of the file to the first request, and the rest after `goOn`. */
async function paused() {
  let goOn = () => {};
  const released = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const server = await scripted(async (socket, request) => {
    if (request.index > 0) return sendFile(socket, request, FILE, '"v1"');
    socket.write(head(200, { ETag: '"v1"', 'Content-Length': FILE.length }));
    socket.write(FILE.subarray(0, HELD_BACK));
    await released;
    socket.write(FILE.subarray(HELD_BACK));
  });
  return { server, goOn };
}

const partOf = async (place: Workplace) => (await place.names()).find((name) => name.endsWith('.part'));

/** Starts a run in a container and waits until it has written all bytes that the server has sent. */
async function halfDone(place: Workplace, url: string, within: readonly string[]) {
  const running = place.start(ARGS, serviceAt(url), within);
  const size = async () => {
    const part = await partOf(place);
    return part === undefined ? 0 : (await place.read(part)).length;
  };
  await until(async () => (await size()) === HELD_BACK);
  return { running, part: (await partOf(place)) ?? '' };
}

describe.each(CONTAINERS)('containers %s', (_, one, other, isKnown) => {
  test("two runs at once do not touch each other's parts, and both succeed", async () => {
    const { server, goOn } = await paused();
    const place = await workplace();
    const { running, part } = await halfDone(place, server.url, one);
    const found = parsePartName(part);
    expect(found?.kind === 'part' && found.owner !== undefined).toBe(isKnown);
    const second = await place.start(ARGS, serviceAt(server.url), other).ended;
    expect(second.exitCode, second.stderr).toBe(0);
    expect(server.requests.map(rangeStart)).toEqual([undefined, undefined]);
    expect((await place.names()).filter((name) => !name.endsWith('.resume')).sort()).toEqual([part, NAME].sort());
    goOn();
    const first = await running.ended;
    expect(first.exitCode, first.stderr).toBe(0);
    expect((await place.read(NAME)).equals(FILE)).toBe(true);
    expect(await place.names()).toEqual([NAME]);
  });

  test.each([0, 90_000])('the next run succeeds if the part of a killed run is %i s old', async (age) => {
    const { server } = await paused();
    const place = await workplace();
    const { running } = await halfDone(place, server.url, one);
    running.kill('SIGKILL');
    await running.ended;
    const time = Date.now() / 1000 - age;
    for (const name of await place.names()) await utimes(join(place.path, name), time, time);
    const next = await place.start(ARGS, serviceAt(server.url), other).ended;
    expect(next.exitCode, next.stderr).toBe(0);
    expect((await place.read(NAME)).equals(FILE)).toBe(true);
    if (age > 0) expect(await place.names()).toEqual([NAME]);
  });
});
