import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import {
  ABANDONED_MS,
  OWNER_PATTERN,
  type Owner,
  ownerText,
  parseOwner,
  type Standing,
  standing,
} from '../../src/disk/owner/owner.ts';
import { ownerOf, processAt } from '../../src/disk/owner/processes.ts';
import { isRunning } from '../service/transfer-fixture.ts';

const self = ownerOf(process.pid, 'host', process.platform);
const at = (pid: number) => processAt(pid, process.platform, isRunning);

describe('this process as an owner', () => {
  test('goes through its text', () => {
    expect(ownerText(self)).toMatch(new RegExp(`^${OWNER_PATTERN}$`));
    expect(parseOwner(ownerText(self))).toEqual(self);
  });

  test('what is unknown stays so, and takes as much room', () => {
    const { pid } = self;
    const unknown = { host: undefined, boot: undefined, namespace: undefined, pid, started: undefined };
    expect(ownerText(unknown)).toBe(`________-________-________-${pid.toString(36)}-_`);
    expect(parseOwner(ownerText(unknown))).toEqual(unknown);
  });

  test('is told apart by host, process and start', () => {
    expect(ownerOf(process.pid, 'other', process.platform).host).not.toBe(self.host);
    expect(ownerOf(process.ppid, 'host', process.platform).started).not.toBe(self.started);
  });

  test.each([
    '',
    'x',
    'zzzzzzzz-00000000-00000000-1-1',
    '00000000-00000000-00000000-1',
    '00000000-00000000-00000000-1-1-1',
    ' 00000000-00000000-00000000-1-1',
    '_-00000000-00000000-1-1',
    '00000000-00000000-00000000-_-1',
  ])('%j is no owner', (text) => {
    expect(parseOwner(text)).toBeUndefined();
  });
});

// Each of host, namespace, boot and start: the same as this run's, another, unknown; the process: there or not.
const KNOWN = ['same', 'other', 'unknown'] as const;
type Known = (typeof KNOWN)[number];
const HERE: Owner = { host: 'aaaaaaaa', boot: 'bbbbbbbb', namespace: 'cccccccc', pid: 7, started: '1' };
const other: Owner = { host: '11111111', boot: '22222222', namespace: '33333333', pid: 7, started: '2' };
type Row = readonly [host: Known, namespace: Known, boot: Known, start: Known, there: boolean];
const ROWS: readonly Row[] = KNOWN.flatMap((host) =>
  KNOWN.flatMap((namespace) =>
    KNOWN.flatMap((boot) =>
      KNOWN.flatMap((start) => [true, false].map((there): Row => [host, namespace, boot, start, there])),
    ),
  ),
);
const UPTIME = 3_600_000;
const [FRESH, QUIET, AGES] = [ABANDONED_MS - 1, ABANDONED_MS, UPTIME + 1];

/** What the table says, in the words of the contract. */
function expected([host, namespace, boot, start, there]: Row, untouchedMs: number): Standing {
  const here = host === 'same' && namespace === 'same';
  if (here && boot === 'same') return !there || start === 'other' ? 'gone' : 'alive';
  if (here && boot === 'other' && untouchedMs === AGES) return 'rebooted';
  return untouchedMs === FRESH ? 'alive' : 'abandoned';
}

function judged([host, namespace, boot, start, there]: Row, untouchedMs: number | undefined, blind: 'owner' | 'self') {
  const pick = <T>(known: Known, mine: T, theirs: T) =>
    known === 'same' ? mine : known === 'other' ? theirs : blind === 'owner' ? undefined : theirs;
  const seen = <T>(known: Known, mine: T) => (known === 'unknown' && blind === 'self' ? undefined : mine);
  const owner = {
    host: pick(host, HERE.host, other.host),
    namespace: pick(namespace, HERE.namespace, other.namespace),
    boot: pick(boot, HERE.boot, other.boot),
    pid: 7,
    started: pick(start, HERE.started, other.started),
  };
  const me = {
    ...HERE,
    host: seen(host, HERE.host),
    namespace: seen(namespace, HERE.namespace),
    boot: seen(boot, HERE.boot),
  };
  const running = there ? { started: seen(start, HERE.started) } : undefined;
  return standing(owner, me, { process: running, untouchedMs, uptimeMs: UPTIME });
}

describe('standing: host, namespace, boot, start (same, other, unknown), whether the process is there', () => {
  test.each(ROWS)('%s %s %s %s %s', (...row) => {
    for (const blind of ['owner', 'self'] as const) {
      for (const untouchedMs of [FRESH, QUIET, AGES]) {
        expect(judged(row, untouchedMs, blind), `${blind} ${untouchedMs}`).toBe(expected(row, untouchedMs));
      }
      // A clock that can't be read, or that went back, is no sign of being abandoned.
      for (const untouchedMs of [undefined, -AGES]) {
        expect(judged(row, untouchedMs, blind)).toBe(expected(row, FRESH));
      }
    }
  });

  test('of 162 rows these alone let a part be taken with all bytes, or with what was flushed', () => {
    const rows = (untouchedMs: number, standing: Standing) =>
      ROWS.filter((row) => judged(row, untouchedMs, 'owner') === standing).map((row) => row.join(' '));
    const gone = ['same same same other true', ...KNOWN.map((start) => `same same same ${start} false`)].sort();
    expect(rows(FRESH, 'gone').sort()).toEqual(gone);
    expect(rows(AGES, 'gone').sort()).toEqual(gone);
    expect(rows(FRESH, 'rebooted')).toEqual([]);
    expect(rows(AGES, 'rebooted').every((row) => row.startsWith('same same other'))).toBe(true);
    expect(rows(AGES, 'rebooted')).toHaveLength(6);
  });

  test('another boot just now: a twin of the same name gets two minutes to show that it lives', () => {
    const rebooted = { ...HERE, boot: other.boot };
    const standingAfter = (untouchedMs: number) =>
      standing(rebooted, HERE, { process: undefined, untouchedMs, uptimeMs: 20_000 });
    expect([20_001, 120_000, 120_001].map(standingAfter)).toEqual(['alive', 'alive', 'rebooted']);
  });
});

describe('processes', () => {
  test('one that runs, and one that has ended', async () => {
    const child = spawn('sleep', ['30']);
    const owner = ownerOf(child.pid ?? 0, 'host', process.platform);
    const signs = () => ({ process: at(owner.pid), untouchedMs: 0, uptimeMs: 0 });
    expect(standing(owner, self, signs())).toBe('alive');
    child.kill();
    await once(child, 'exit');
    expect(standing(owner, self, signs())).toBe('gone');
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

  test('of another user: it runs', () => {
    expect(processAt(1, process.platform, isRunning)).toBeDefined();
  });
});
