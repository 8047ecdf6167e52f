import { expect, test } from 'vitest';
import { keptMode } from '../../src/transfer/sinks/kept-mode.ts';

const PART = { uid: 1000, gid: 100 };

test.each<[string, { uid: number; gid: number; mode: number }, number | undefined]>([
  ['one’s own', { ...PART, mode: 0o100640 }, 0o640],
  ['one’s own that all may write', { ...PART, mode: 0o100666 }, 0o666],
  ['one’s own with set-user-ID, which a download never has', { ...PART, mode: 0o106755 }, 0o755],
  ['another user’s', { uid: 1001, gid: 100, mode: 0o100666 }, undefined],
  ['another user’s in another group', { uid: 0, gid: 0, mode: 0o100600 }, undefined],
  ['another group’s: the new group gets none of its rights', { uid: 1000, gid: 7, mode: 0o100660 }, 0o600],
  ['another group’s, for all to read', { uid: 1000, gid: 7, mode: 0o100664 }, 0o644],
  ['another group’s, for nobody else', { uid: 1000, gid: 7, mode: 0o100600 }, 0o600],
])('%s', (_, old, mode) => {
  expect(keptMode(old, PART)).toBe(mode);
});
