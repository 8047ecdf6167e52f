import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fileNameFault } from '../../src/disk/file-name.ts';
import {
  newId,
  type Owner,
  ownerOf,
  parsePartName,
  partName,
  recordName,
  startsOf,
  stateOf,
  stemOf,
} from '../../src/transfer/part/owner.ts';
import { parseRecord, recordText } from '../../src/transfer/part/record.ts';
import type { Version } from '../../src/transfer/resume.ts';
import { isRunning } from '../service/transfer-fixture.ts';

const SELF = ownerOf(process.pid, 'host', process.platform);
const startOf = startsOf(process.platform, isRunning);
const OWNER: Owner = { machine: '0123456789abcdef', pid: 7, started: '1' };
const ELSEWHERE = { ...OWNER, machine: 'fedcba9876543210' };

describe('what is known of an owner', () => {
  // This run’s own owner; when the process started that has the number now.
  test.each<[string, Owner | undefined, Owner | undefined, string | undefined, string]>([
    ['no such process', OWNER, OWNER, undefined, 'ended'],
    ['its process', OWNER, OWNER, '1', 'alive'],
    ['another process with its number', OWNER, OWNER, '2', 'ended'],
    ['a process whose start is unknown', OWNER, OWNER, '_', 'alive'],
    ['another machine, boot or namespace', ELSEWHERE, OWNER, undefined, 'unknown'],
    ['it is unknown', undefined, OWNER, undefined, 'unknown'],
    ['ours is unknown', OWNER, undefined, undefined, 'unknown'],
  ])('%s', (_, owner, self, started, state) => {
    expect(stateOf(owner, self, () => started)).toBe(state);
  });

  test('a process that runs, of another user, too; that has ended; whose parent has looked by then', async () => {
    expect(startOf(1)).toBeDefined();
    // This process has no turn in which to look until it waits.
    const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { stdio: 'ignore' });
    const { pid = 0 } = child;
    const owner = ownerOf(pid, 'host', process.platform);
    expect(stateOf(owner, SELF, startOf)).toBe('alive');
    process.kill(pid, 'SIGKILL');
    for (const until = Date.now() + 60_000; Date.now() < until && stateOf(owner, SELF, startOf) === 'alive'; );
    expect([stateOf(owner, SELF, startOf), isRunning(pid)]).toEqual(['ended', true]);
    await once(child, 'exit');
    expect([stateOf(owner, SELF, startOf), isRunning(pid)]).toEqual(['ended', false]);
  });
});

describe('names', () => {
  test('look as the interface page says; the record’s does not say whose it is', () => {
    expect(partName('primary.htm', OWNER, 'a1b2c3d4')).toBe('.primary.htm.0123456789abcdef-7-1.a1b2c3d4.part');
    expect(recordName('primary.htm', 'a1b2c3d4')).toBe('.primary.htm.a1b2c3d4.resume');
  });

  test('whatever the final name, they are read back, fit, and are allowed in no listing', () => {
    const finals = fc.string({ minLength: 1, maxLength: 190, unit: 'grapheme' }).filter((name) => !/[/\0]/.test(name));
    const owners = fc.constantFrom({ ...OWNER, pid: 36 ** 6 - 1, started: 'z'.repeat(13) }, undefined);
    const randoms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(finals, owners, randoms, (final, owner, random) => {
        const [stem, id] = [stemOf(final), newId(random)];
        for (const kind of ['part', 'lock'] as const) {
          const name = partName(stem, owner, id, kind);
          expect(parsePartName(name)).toEqual({ name, kind, stem, id, owner });
        }
        expect(parsePartName(recordName(stem, id))).toMatchObject({ kind: 'resume', stem, id });
        expect(fileNameFault(partName(stem, owner, id))).toBeDefined();
        expect(Buffer.byteLength(partName(stem, owner, id))).toBeLessThanOrEqual(255);
      }),
    );
  });

  test('the longest final name fits; a longer one, which -o may choose, gets a digest of its own', () => {
    expect(fileNameFault('n'.repeat(191))).toBeUndefined();
    expect(stemOf('n'.repeat(191))).toBe('n'.repeat(191));
    expect(stemOf(`${'x'.repeat(254)}1`)).not.toBe(stemOf(`${'x'.repeat(254)}2`));
  });

  test('of others are not read', () => {
    const whose = ['.x.0123456789abcdef-1-1', '.x.0123456789abcdeg-1-1.a1b2c3d4', 'x.0123456789abcdef-1-1.a1b2c3d4'];
    const others = ['primary.htm', '.x.resume', ...whose.map((name) => `${name}.part`)];
    expect(others.filter((name) => parsePartName(name))).toEqual([]);
  });
});

describe('a record', () => {
  const request = 'https://h.example/ 0001234567-24-000001 primary.htm';
  const etag = (value: string) => ({ kind: 'etag', value }) as const;
  const version: Version = { address: 'https://h.example/f', validator: etag('"v1"'), total: 2_000_000 };
  const text = recordText(request, version);
  const json = (changes: object) => `${JSON.stringify({ ...JSON.parse(text), ...changes })}\n`;

  test.each<[string, Partial<Version>]>([
    ['with an ETag', {}],
    ['with a date', { validator: { kind: 'last-modified', value: 'Tue, 01 Apr 2025 10:00:00 GMT' } }],
    ['of unknown length', { total: undefined }],
    ['with an ETag beyond ASCII', { validator: etag('"\xe9\xff\\"') }],
  ])('%s is read back', (_, changes) => {
    expect(parseRecord(recordText(request, { ...version, ...changes }), request)).toEqual({ ...version, ...changes });
  });

  test.each<[string, string]>([
    ['empty', ''],
    ['torn', text.slice(0, -1)],
    ['of another version', json({ v: 2 })],
    ['with one member more', json({ more: 1 })],
    ['with a member twice', text.replace('{"v":1', '{"v":1,"v":1')],
    ['with a total that is no whole number', json({ total: 1.5 })],
    ['with a total beyond all numbers', text.replace('2000000', '9007199254740993')],
    ['without an address', json({ address: undefined })],
    ['of another request', json({ request: `${request}l` })],
    ['with a validator of another kind', json({ validator: { kind: 'md5', value: '"v1"' } })],
  ])('%s is none', (_, other) => {
    let read: Version | undefined;
    try {
      read = parseRecord(other, request);
    } catch {}
    expect(read).toBeUndefined();
  });
});
