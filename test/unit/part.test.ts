import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fileNameFault } from '../../src/disk/file-name.ts';
import {
  identifySelf,
  newId,
  type Owner,
  type ProcessInfo,
  parsePartName,
  partName,
  recordName,
  type Self,
  startReader,
  stateOf,
  stemOf,
} from '../../src/transfer/part/owner.ts';
import { parseRecord, recordText } from '../../src/transfer/part/record.ts';
import type { RemoteVersion } from '../../src/transfer/resume.ts';
import { SYSTEM } from '../../src/world.ts';
import { isRunning, processInfo } from '../service/transfer-fixture.ts';

const SELF = identifySelf(process.pid, processInfo());
const startOf = startReader(processInfo());
const OWNER: Owner = { machine: '0123456789abcdef', pid: 7, startTime: '1' };
const HERE: Self = { ...OWNER, aliases: ['89abcdef01234567'] };
const ELSEWHERE = { ...OWNER, machine: 'fedcba9876543210' };

describe('the state of an owner', () => {
  // The columns are the owner, this run’s own owner and the start time of the process that has the PID now.
  test.each<[string, Owner | undefined, Self | undefined, string | undefined, string]>([
    ['no process with its PID', OWNER, HERE, undefined, 'ended'],
    ['its own process', OWNER, HERE, '1', 'alive'],
    ['another process with its PID', OWNER, HERE, '2', 'ended'],
    ['a process with an unknown start time', OWNER, HERE, '_', 'alive'],
    ['another machine, boot or namespace', ELSEWHERE, HERE, undefined, 'unknown'],
    ['this machine by another name', { ...OWNER, machine: '89abcdef01234567' }, HERE, undefined, 'ended'],
    ['an unknown owner', undefined, HERE, undefined, 'unknown'],
    ['an unknown owner of this run', OWNER, undefined, undefined, 'unknown'],
  ])('is derived from the PID, start time and machine: %s', (_, owner, self, started, state) => {
    expect(stateOf(owner, self, () => started)).toBe(state);
  });

  test('is alive while its process runs, and ended from its death on, even as a zombie', async () => {
    expect(startOf(1)).toBeDefined();
    // This process cannot reap the child before it waits for the event loop.
    const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { stdio: 'ignore' });
    const { pid = 0 } = child;
    const owner = identifySelf(pid, processInfo());
    expect(stateOf(owner, SELF, startOf)).toBe('alive');
    process.kill(pid, 'SIGKILL');
    for (const until = Date.now() + 60_000; Date.now() < until && stateOf(owner, SELF, startOf) === 'alive'; );
    expect([stateOf(owner, SELF, startOf), isRunning(pid)]).toEqual(['ended', true]);
    await once(child, 'exit');
    expect([stateOf(owner, SELF, startOf), isRunning(pid)]).toEqual(['ended', false]);
  });
});

describe('on a Mac the owner of a part', () => {
  const asked: unknown[][] = [];
  const mac = (answers: Readonly<Record<string, string>>): ProcessInfo => ({
    ...processInfo(),
    platform: 'darwin',
    hostname: `name-${Math.random()}`,
    isRunning: () => true,
    system: {
      ...SYSTEM,
      run(file, args, env) {
        asked.push([file, ...args, env]);
        const answer = answers[file];
        if (answer === undefined) throw new Error('no such program');
        return answer;
      },
    },
  });
  const STARTED = 'Mon Nov  3 06:15:00 2025\n';

  test('is the same under cron and in a terminal, because programs have full paths, a fixed language and a fixed time zone', () => {
    asked.length = 0;
    const info = mac({ '/usr/sbin/sysctl': 'SESSION\n', '/bin/ps': STARTED });
    const owner = identifySelf(7, info);
    expect(asked).toEqual([
      ['/usr/sbin/sysctl', '-n', 'kern.bootsessionuuid', {}],
      ['/bin/ps', '-o', 'lstart=', '-p', '7', { LC_ALL: 'C', TZ: 'UTC0' }],
    ]);
    expect(stateOf(owner, owner, startReader(info))).toBe('alive');
  });

  test('does not depend on the name of the machine, which changes with the network', () => {
    const answers = { '/usr/sbin/sysctl': 'SESSION\n', '/bin/ps': STARTED };
    expect(identifySelf(7, mac(answers))).toEqual(identifySelf(7, mac(answers)));
  });

  test.each([
    ['another start', { '/usr/sbin/sysctl': 'SESSION', '/bin/ps': 'Mon Nov  3 06:15:01 2025\n' }, 'ended'],
    ['another boot', { '/usr/sbin/sysctl': 'OTHER', '/bin/ps': STARTED }, 'unknown'],
    ['no sysctl', { '/bin/ps': STARTED }, 'unknown'],
    ['no ps', { '/usr/sbin/sysctl': 'SESSION' }, 'alive'],
  ])('has the expected state after %s', (_, answers, state) => {
    const owner = identifySelf(7, mac({ '/usr/sbin/sysctl': 'SESSION', '/bin/ps': STARTED }));
    const info = mac(answers);
    expect(stateOf(owner, identifySelf(8, info), startReader(info))).toBe(state);
  });
});

describe('on Windows the owner of a part', () => {
  const NOW = Date.UTC(2026, 0, 1);
  const booted = (ago: number, more: Partial<ProcessInfo> = {}): ProcessInfo => {
    const system = { ...SYSTEM, uptime: () => ago };
    return {
      ...processInfo(),
      platform: 'win32',
      hostname: 'pc',
      now: () => NOW,
      isRunning: () => false,
      system,
      ...more,
    };
  };

  test.each<[string, ProcessInfo, string]>([
    ['the same boot', booted(1000_000), 'ended'],
    ['the same boot, computed 2 s earlier', booted(1_002_000), 'ended'],
    ['the same boot, computed 2 s later', booted(998_000), 'ended'],
    ['a boot 3 s later', booted(997_000), 'unknown'],
    ['a boot 3 s earlier', booted(1_003_000), 'unknown'],
    ['another machine', booted(1_000_000, { hostname: 'other' }), 'unknown'],
    ['a process with its number, which may be another one', booted(1_000_000, { isRunning: () => true }), 'alive'],
  ])('has the expected state: %s', (_, info, state) => {
    const owner = identifySelf(7, booted(1_000_000));
    expect(owner?.startTime).toBe('_');
    expect(stateOf(owner, identifySelf(8, info), startReader(info))).toBe(state);
  });
});

describe('names of parts and records', () => {
  test('have the documented form, and only those of parts name the owner', () => {
    expect(partName('primary.htm', OWNER, 'a1b2c3d4')).toBe('.primary.htm.0123456789abcdef-7-1.a1b2c3d4.part');
    expect(recordName('primary.htm', 'a1b2c3d4')).toBe('.primary.htm.a1b2c3d4.resume');
  });

  test('can be parsed, fit into 255 bytes and are refused in listings, for any final name', () => {
    const finals = fc.string({ minLength: 1, maxLength: 190, unit: 'grapheme' }).filter((name) => !/[/\0]/.test(name));
    const owners = fc.constantFrom({ ...OWNER, pid: 36 ** 6 - 1, startTime: 'z'.repeat(13) }, undefined);
    const randoms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(finals, owners, randoms, (final, owner, random) => {
        const [stem, id] = [stemOf(final), newId(random)];
        for (const kind of ['part', 'lock'] as const) {
          const name = partName(stem, owner, id, kind);
          expect(parsePartName(name)).toEqual({ name, kind, stem, id, owner });
        }
        expect(parsePartName(recordName(stem, id))).toMatchObject({ kind: 'resume', stem, id });
        expect(fileNameFault(partName(stem, owner, id), 'linux')).toBeDefined();
        expect(Buffer.byteLength(partName(stem, owner, id))).toBeLessThanOrEqual(255);
      }),
    );
  });

  test('contain a final name of up to 191 bytes, and a digest of a longer one', () => {
    expect(fileNameFault('n'.repeat(191), 'linux')).toBeUndefined();
    expect(stemOf('n'.repeat(191))).toBe('n'.repeat(191));
    expect(stemOf(`${'x'.repeat(254)}1`)).not.toBe(stemOf(`${'x'.repeat(254)}2`));
  });

  test('are distinguished from other names', () => {
    const wrong = ['.x.0123456789abcdef-1-1', '.x.0123456789abcdeg-1-1.a1b2c3d4', 'x.0123456789abcdef-1-1.a1b2c3d4'];
    const others = ['primary.htm', '.x.resume', ...wrong.map((name) => `${name}.part`)];
    expect(others.filter((name) => parsePartName(name))).toEqual([]);
  });
});

describe('a resume record', () => {
  const request = 'https://h.example/ 0001234567-24-000001 primary.htm';
  const etag = (value: string) => ({ kind: 'etag', value }) as const;
  const version: RemoteVersion = { address: 'https://h.example/f', validator: etag('"v1"'), total: 2_000_000 };
  const text = recordText(request, version);
  const json = (changes: object) => `${JSON.stringify({ ...JSON.parse(text), ...changes })}\n`;

  test.each<[string, Partial<RemoteVersion>]>([
    ['an ETag', {}],
    ['a date', { validator: { kind: 'last-modified', value: 'Tue, 01 Apr 2025 10:00:00 GMT' } }],
    ['an unknown length', { total: undefined }],
    ['an ETag with bytes beyond ASCII', { validator: etag('"\xe9\xff\\"') }],
  ])('is read back: %s', (_, changes) => {
    expect(parseRecord(recordText(request, { ...version, ...changes }), request)).toEqual({ ...version, ...changes });
  });

  test.each<[string, string]>([
    ['empty', ''],
    ['torn', text.slice(0, -1)],
    ['another version', json({ v: 2 })],
    ['an additional member', json({ more: 1 })],
    ['a duplicate member', text.replace('{"v":1', '{"v":1,"v":1')],
    ['a total that is not a whole number', json({ total: 1.5 })],
    ['a total beyond the safe integers', text.replace('2000000', '9007199254740993')],
    ['no address', json({ address: undefined })],
    ['another request', json({ request: `${request}l` })],
    ['a validator of another kind', json({ validator: { kind: 'md5', value: '"v1"' } })],
  ])('is refused: %s', (_, other) => {
    let read: RemoteVersion | undefined;
    try {
      read = parseRecord(other, request);
    } catch {}
    expect(read).toBeUndefined();
  });
});
