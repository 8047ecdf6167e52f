import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fileNameFault } from '../../src/disk/file-name.ts';
import { keptMode } from '../../src/transfer/part/commit.ts';
import {
  newId,
  type Owner,
  ownerOf,
  ownerText,
  parseOwner,
  parsePartName,
  partName,
  processesOf,
  recordName,
  stateOf,
  stemOf,
} from '../../src/transfer/part/owner.ts';
import { parseRecord, type ResumeRecord, recordText } from '../../src/transfer/part/record.ts';
import { isRunning } from '../service/transfer-fixture.ts';

const self = ownerOf(process.pid, 'host', process.platform);
const at = processesOf(process.platform, isRunning);
const OWNER: Owner = { machine: '0123456789abcdef', pid: 4_194_303, started: 'zzzzzzz' };
const HERE: Owner = { ...OWNER, pid: 7, started: '1' };
const [ELSEWHERE, UNKNOWN] = ['fedcba9876543210', undefined];

describe('what is known of an owner', () => {
  // Its machine and start; this run's machine; the process that has its number now.
  test.each<[string, Partial<Owner>, Partial<Owner>, { started: string | undefined } | undefined, string]>([
    ['no such process', {}, {}, undefined, 'ended'],
    ['no such process, its start unknown', { started: UNKNOWN }, {}, undefined, 'ended'],
    ['its process', {}, {}, { started: '1' }, 'alive'],
    ['another process with its number', {}, {}, { started: '2' }, 'ended'],
    ['a process, its start unknown', { started: UNKNOWN }, {}, { started: '1' }, 'alive'],
    ['a process whose start is unknown', {}, {}, { started: UNKNOWN }, 'alive'],
    ['another machine, boot or namespace', { machine: ELSEWHERE }, {}, undefined, 'unknown'],
    ['its machine unknown', { machine: UNKNOWN }, {}, undefined, 'unknown'],
    ['ours unknown', {}, { machine: UNKNOWN }, undefined, 'unknown'],
    ['both unknown', { machine: UNKNOWN }, { machine: UNKNOWN }, undefined, 'unknown'],
  ])('%s', (_, owner, mine, process, state) => {
    expect(stateOf({ ...HERE, ...owner }, { ...HERE, pid: 8, ...mine }, () => process)).toBe(state);
  });

  test('this process goes through its text, also what of it is unknown', () => {
    expect(parseOwner(ownerText(self))).toEqual(self);
    const unknown = { machine: UNKNOWN, pid: 36, started: UNKNOWN };
    expect(ownerText(unknown)).toBe('_-10-_');
    expect(parseOwner('_-10-_')).toEqual(unknown);
  });

  test('it is told apart by host, process and start', () => {
    expect(ownerOf(process.pid, 'other', process.platform).machine).not.toBe(self.machine);
    expect(ownerOf(process.ppid, 'host', process.platform).started).not.toBe(self.started);
  });

  test('a process that runs, and has ended', async () => {
    const child = spawn('sleep', ['30']);
    const owner = ownerOf(child.pid ?? 0, 'host', process.platform);
    expect(stateOf(owner, self, at)).toBe('alive');
    child.kill();
    await once(child, 'exit');
    expect(stateOf(owner, self, at)).toBe('ended');
  });

  test.skipIf(process.platform !== 'linux')('one that has ended, and whose parent has not looked', async () => {
    // The shell becomes a program that never waits for its child.
    const parent = spawn('bash', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const pid = Number(String((await once(parent.stdout, 'data'))[0]));
    const program = () => readFile(`/proc/${parent.pid}/comm`, 'utf8');
    while ((await program()) !== 'sleep\n') await new Promise((resolve) => setTimeout(resolve, 5));
    process.kill(pid);
    while (at(pid) !== undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(isRunning(pid)).toBe(true);
    parent.kill('SIGKILL');
  });

  test('one of another user runs', () => {
    expect(at(1)).toBeDefined();
  });
});

describe('names', () => {
  test('look as the interface page says; the record’s does not say whose it is', () => {
    expect(partName('primary.htm', OWNER, 'a1b2c3d4')).toMatch(/^\.primary\.htm\.[\w-]+\.a1b2c3d4\.part$/);
    expect(recordName('primary.htm', 'a1b2c3d4')).toBe('.primary.htm.a1b2c3d4.resume');
  });

  test('whatever the final name, they are read back, fit, and are allowed in no listing', () => {
    const finals = fc.string({ minLength: 1, maxLength: 190, unit: 'grapheme' }).filter((name) => !/[/\0]/.test(name));
    const longest = { ...OWNER, pid: 36 ** 6 - 1, started: 'z'.repeat(13) };
    fc.assert(
      fc.property(finals, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (final, random) => {
        const [stem, id] = [stemOf(final), newId(random)];
        for (const kind of ['part', 'lock'] as const) {
          expect(parsePartName(partName(stem, longest, id, kind))).toEqual({ kind, stem, id, owner: longest });
        }
        expect(parsePartName(recordName(stem, id))).toEqual({ kind: 'resume', stem, id });
        expect(fileNameFault(partName(stem, longest, id))).toBeDefined();
        expect(Buffer.byteLength(partName(stem, longest, id))).toBeLessThanOrEqual(255);
      }),
    );
  });

  test('the longest final name fits; a longer one, which -o may choose, gets a digest of its own', () => {
    expect(fileNameFault('n'.repeat(191))).toBeUndefined();
    expect(stemOf('n'.repeat(191))).toBe('n'.repeat(191));
    expect(stemOf(`${'x'.repeat(254)}1`)).not.toBe(stemOf(`${'x'.repeat(254)}2`));
  });

  test.each([
    'primary.htm',
    '.primary.htm.part',
    '.x.0123456789abcdef-1-1.part',
    '.x.0123456789abcdef-1-1.a1b2c3d4.parts',
    '.x.0123456789abcdeg-1-1.a1b2c3d4.part',
    '.x.0123456789abcdef-1.a1b2c3d4.part',
    'x.0123456789abcdef-1-1.a1b2c3d4.part',
    '.x.resume',
  ])('%s is not one', (name) => {
    expect(parsePartName(name)).toBeUndefined();
  });
});

const IDENTITY = { base_url: 'https://h.example/', accession_no: '0001234567-24-000001', file_name: 'primary.htm' };
const ETAG = { kind: 'etag', value: '"v1"' } as const;
const DATED = { kind: 'last-modified', value: 'Tue, 01 Apr 2025 10:00:00 GMT' } as const;
const RECORD: ResumeRecord = { v: 1, ...IDENTITY, address: 'https://h.example/f', validator: ETAG, total: 2_000_000 };
const TEXT = recordText(RECORD) ?? '';
const json = (changes: object) => `${JSON.stringify({ ...JSON.parse(TEXT), ...changes })}\n`;

describe('a record', () => {
  test.each<[string, ResumeRecord]>([
    ['with an ETag', RECORD],
    ['with a date', { ...RECORD, validator: DATED }],
    ['of unknown length', { ...RECORD, total: null }],
    ['with an ETag beyond ASCII', { ...RECORD, validator: { kind: 'etag', value: '"\xe9\xff\\"' } }],
  ])('%s is read back', (_, record) => {
    expect(parseRecord(recordText(record) ?? '', IDENTITY)).toEqual(record);
  });

  test.each<[string, string]>([
    ['empty', ''],
    ['torn', TEXT.slice(0, -1)],
    ['null', 'null\n'],
    ['a list', '[]\n'],
    ['binary', '\0\0\0\0\n'],
    ['of another version', json({ v: 2 })],
    ['with one member more', json({ more: 1 })],
    ['with a member twice', TEXT.replace('{"v":1', '{"v":1,"v":1')],
    ['with white space', TEXT.replace(':', ': ')],
    ['with a line more', `${TEXT}\n`],
    ['without a total', json({ total: undefined })],
    ['with a total that is text', json({ total: '5' })],
    ['with a negative total', json({ total: -1 })],
    ['with a total that is no whole number', json({ total: 1.5 })],
    ['with a total beyond all numbers', TEXT.replace('2000000', '9007199254740993')],
    ['without an address', json({ address: undefined })],
    ['of another service', json({ base_url: 'https://elsewhere.example/' })],
    ['of another filing', json({ accession_no: '0001234567-24-000009' })],
    ['of another file', json({ file_name: 'secondary.htm' })],
    ['with a validator of another kind', json({ validator: { kind: 'md5', value: '"v1"' } })],
    ['without a validator', json({ validator: null })],
    ['with an ETag of 20 kB', json({ validator: { kind: 'etag', value: `"${'x'.repeat(20_000)}"` } })],
  ])('%s is none', (_, text) => {
    expect(parseRecord(text, IDENTITY)).toBeUndefined();
  });

  test.each<[string, Partial<ResumeRecord>]>([
    ['a huge ETag', { validator: { kind: 'etag', value: `"${'x'.repeat(20_000)}"` } }],
    ['no whole number', { total: 0.5 }],
  ])('what could not be read back is not written: %s', (_, changes) => {
    expect(recordText({ ...RECORD, ...changes })).toBeUndefined();
  });
});

const PART = { uid: 1000, gid: 100 };

test.each<[string, { uid: number; gid: number; mode: number }, number | undefined]>([
  ['one’s own', { ...PART, mode: 0o100640 }, 0o640],
  ['one’s own with set-user-ID, which a download never has', { ...PART, mode: 0o106755 }, 0o755],
  ['another user’s', { uid: 1001, gid: 100, mode: 0o100666 }, undefined],
  ['another group’s: the new group gets none of its rights', { uid: 1000, gid: 7, mode: 0o100660 }, 0o600],
  ['another group’s, for all to read', { uid: 1000, gid: 7, mode: 0o100664 }, 0o644],
])('the permissions of a file that replaces %s', (_, old, mode) => {
  expect(keptMode(old, PART)).toBe(mode);
});
