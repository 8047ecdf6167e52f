import { open, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Disk, Waiting } from '../../src/disk/calls/disk.ts';
import { isLocalType } from '../../src/disk/calls/local-disk.ts';
import { Descriptor } from '../../src/disk/calls/open-file.ts';
import { temporaryDirectory } from './transfer-fixture.ts';

/** Time of which none is left, as behind a call that hung. */
function noTime(): Waiting {
  let now = 0;
  const waiting = new Waiting(() => now);
  const hang = () => {
    now += 1e9;
  };
  waiting.making.spend(hang);
  waiting.calls.spend(hang);
  return waiting;
}

/** Time of which there is always more, and how often some of it was spent. */
function allTime() {
  const spent = { calls: 0 };
  const time = new Waiting(() => 0);
  const spend = time.calls.spend.bind(time.calls);
  time.calls.spend = (call) => {
    spent.calls += 1;
    return spend(call);
  };
  return { time, spent };
}

const DISKS: [string, (folder: string) => Promise<Disk>][] = [
  ['on a quick disk', (folder) => Disk.under(folder, process.platform, allTime().time)],
  ['when there is no time left', (folder) => Disk.under(folder, process.platform, noTime())],
  ['on a disk of which nothing is known', (folder) => Disk.under(folder, 'plan9', allTime().time)],
];

test.each(DISKS)('%s, calls do what they say', async (_, diskUnder) => {
  const folder = await temporaryDirectory();
  const disk = await diskUnder(folder);
  const [part, final, other] = [join(folder, 'part'), join(folder, 'final'), join(folder, 'other')];
  expect(await disk.look(part)).toBeUndefined();
  const file = await disk.make(part, 0o600);
  const chunks = [Buffer.from('one, '), Buffer.from('two')];
  expect(await file.writev(chunks, 0)).toMatchObject({ bytesWritten: 8 });
  expect(await file.writev([Buffer.alloc(100_000, 'x')], 8)).toMatchObject({ bytesWritten: 100_000 });
  await file.sync();
  await file.truncate(8);
  await file.chmod(0o640);
  const { size, mode, ino } = await file.stat();
  expect([size, mode & 0o777]).toEqual([8, 0o640]);
  await file.utimes(new Date(1000), new Date(2000));
  const buffer = Buffer.alloc(5);
  expect(await file.read(buffer, 0, 5, 3)).toMatchObject({ bytesRead: 5 });
  expect(buffer.toString()).toBe(', two');
  await file.datasync();
  await file.close();
  expect(await disk.look(part)).toMatchObject({ ino, mtimeMs: 2000 });
  await disk.link(part, final);
  await disk.unlink(part);
  await disk.rename(final, other);
  expect(await readdir(folder)).toEqual(['other']);
  expect(await readFile(other, 'utf8')).toBe('one, two');
});

test.each(DISKS)('%s, what fails rejects with what the system says', async (_, diskUnder) => {
  const folder = await temporaryDirectory();
  const disk = await diskUnder(folder);
  const [there, missing] = [join(folder, 'there'), join(folder, 'missing')];
  await writeFile(there, '');
  await expect(disk.make(there, 0o600)).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(disk.link(there, there)).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(disk.rename(missing, there)).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(disk.unlink(missing)).rejects.toMatchObject({ code: 'ENOENT' });
  const full = await open('/dev/full', 'w');
  await expect(new Descriptor(full.fd, disk).writev([Buffer.from('x')], 0)).rejects.toMatchObject({ code: 'ENOSPC' });
  await full.close();
});

test.runIf(process.platform === 'linux')('a file system that is not on this machine is never waited for', async () => {
  const { time, spent } = allTime();
  // procfs: neither on a disk nor in memory.
  await (await Disk.under('/proc', 'linux', time)).look('/proc/version');
  expect(spent.calls).toBe(0);
  await (await Disk.under('/dev/shm', 'linux', time)).look('/dev/shm');
  expect(spent.calls).toBe(1);
});

test('a local type is known with and without a sign, a type of a network is not local', () => {
  const types = [0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0xca451a4e, 0x2fc12fc1, 0x01021994, 0x858458f6];
  for (const type of types) expect([isLocalType(type | 0), isLocalType(type)]).toEqual([true, true]);
  for (const type of [0x6969, 0xff534d42, 0x65735546, 0x01021997, 0x73757245, 0]) expect(isLocalType(type)).toBe(false);
});

test('others have their turn, however many calls follow one another', async () => {
  const folder = await temporaryDirectory();
  const disk = await Disk.under(folder, process.platform, new Waiting(() => performance.now()));
  let turned = false;
  setImmediate(() => {
    turned = true;
  });
  for (let count = 0; !turned && count < 20_000; count += 1) {
    await disk.look(folder);
    // What else is done for a file that is there: so much that the disk's share of the time is never used up.
    for (let step = 0; step < 1000; step += 1) await undefined;
  }
  expect(turned).toBe(true);
});

test.each(DISKS)('%s, a file that is closed has no number that another could get', async (_, diskUnder) => {
  const folder = await temporaryDirectory();
  const disk = await diskUnder(folder);
  const file = await disk.make(join(folder, 'a'), 0o600);
  const { fd } = file;
  await Promise.all([file.close(), file.close()]);
  const next = await disk.make(join(folder, 'b'), 0o600);
  expect(next.fd).toBe(fd);
  const late = [file.stat(), file.sync(), file.writev([Buffer.from('x')], 0), file.truncate(1), file.close()];
  const ended = await Promise.allSettled(late);
  expect(ended.map((one) => (one.status === 'rejected' ? one.reason.code : 'done'))).toEqual([
    ...Array(4).fill('EBADF'),
    'done',
  ]);
  expect((await next.stat()).size).toBe(0);
  await next.close();
});

test.each(DISKS)('%s, what is under way has its file until it has ended', async (_, diskUnder) => {
  const folder = await temporaryDirectory();
  const disk = await diskUnder(folder);
  const bytes = Buffer.alloc(100_000, 'x');
  for (let round = 0; round < 5; round += 1) {
    const file = await disk.make(join(folder, `a${round}`), 0o600);
    // More than the pool has threads for: some have not begun when it is closed.
    const writing = Array.from({ length: 64 }, (_, at) => file.writev([bytes], at * bytes.length));
    await file.close();
    const next = await disk.make(join(folder, `b${round}`), 0o600);
    await Promise.all(writing);
    expect((await next.stat()).size).toBe(0);
    await next.close();
    await Promise.all(['a', 'b'].map((name) => disk.unlink(join(folder, `${name}${round}`))));
  }
});
