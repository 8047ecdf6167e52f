import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { OWNER_PATTERN, type Owner, ownerText, parseOwner, standingOf, thisOwner } from '../../src/disk/owner.ts';

const self = thisOwner('host', process.pid, process.platform);
const DAY = 86_400_000;

describe('this process as an owner', () => {
  test('goes through its text', () => {
    expect(ownerText(self)).toMatch(new RegExp(`^${OWNER_PATTERN}$`));
    expect(parseOwner(ownerText(self))).toEqual(self);
  });

  test('is told apart by host, process and start', () => {
    expect(thisOwner('other', process.pid, process.platform).host).not.toBe(self.host);
    expect(thisOwner('host', process.ppid, process.platform).started).not.toBe(self.started);
  });

  test.each([
    '',
    'x',
    'zzzzzzzz-00000000-00000000-1-1',
    '00000000-00000000-00000000-1',
    '00000000-00000000-00000000-1-1-1',
    ' 00000000-00000000-00000000-1-1',
  ])('%j is no owner', (text) => {
    expect(parseOwner(text)).toBeUndefined();
  });
});

describe('standing', () => {
  const other = (more: Partial<Owner>): Owner => ({ ...self, ...more });
  test.each<[string, Owner, number, ReturnType<typeof standingOf>]>([
    ['this process', self, DAY * 9, 'alive'],
    ['this process id, started at another time', other({ started: '1' }), 0, 'dead'],
    ['no such process', other({ pid: 0x7ffffff }), 0, 'dead'],
    ['another boot', other({ boot: '00000000' }), 0, 'dead-since-reboot'],
    ['another host, of today', other({ host: '00000000' }), DAY - 1, 'alive'],
    ['another host, of yesterday', other({ host: '00000000' }), DAY + 1, 'dead'],
    ['another host and boot, of today', other({ host: '00000000', boot: '00000000' }), 0, 'alive'],
    ['another pid namespace, of today', other({ namespace: '00000000', pid: 0x7ffffff }), 0, 'alive'],
    ['another pid namespace, of yesterday', other({ namespace: '00000000' }), DAY + 1, 'dead'],
    ['a clock that went back', other({ host: '00000000' }), -DAY * 9, 'alive'],
  ])('%s', (_, owner, unchangedMs, standing) => {
    expect(standingOf(owner, self, process.platform, unchangedMs)).toBe(standing);
  });

  test('a process that has ended is dead', async () => {
    const child = spawn('sleep', ['30']);
    const owner = thisOwner('host', child.pid ?? 0, process.platform);
    expect(standingOf(owner, self, process.platform, 0)).toBe('alive');
    child.kill();
    await once(child, 'exit');
    expect(standingOf(owner, self, process.platform, 0)).toBe('dead');
  });
});
