import type { Tree } from './crash-state.ts';
import type { Act, Scenario } from './scenario.ts';

const BATCH = [
  'download',
  '-i',
  'in',
  '--all',
  '-d',
  'out',
  '--done',
  'done',
  '--checksums',
  '-q',
  '-j',
  '3',
  '--retries',
  '0',
];
const FILED = [...BATCH, '--report', 'report'];
const NEW = { version: 2, cuts: false };

const OLD: Tree = new Map([['out/0001234567-24-000001/f0.htm', Buffer.from('the old file\n')]]);

function killed(when: string, killedAt: NonNullable<Act['killedAt']>): Scenario {
  return { name: `a batch that is killed ${when}, and goes on`, acts: [{ args: FILED, killedAt }, { args: FILED }] };
}

/** The simplest. */
export const BATCH_ALONE: Scenario = { name: 'a batch', acts: [{ args: FILED }] };
export const KILLED = killed('when a file has its name, which is not flushed', ['unlink', 1]);

export const SCENARIOS: readonly Scenario[] = [
  BATCH_ALONE,
  { name: 'a batch that tells another machine', acts: [{ args: [...BATCH, '--report', '-'] }] },
  {
    name: 'a batch that is cut, and goes on',
    resumes: true,
    acts: [
      { args: FILED, mood: { cuts: true } },
      { args: FILED, mood: { cuts: false } },
    ],
  },
  {
    name: 'a batch that is cut, and finds another version',
    acts: [
      { args: FILED, mood: { cuts: true } },
      { args: FILED, mood: NEW },
    ],
  },
  KILLED,
  killed('when DIR is made, and not flushed', ['fsync', 1]),
  killed('when a directory below it is made, and not flushed', ['fsync', 2]),
  { name: 'a batch over what is there', acts: [{ args: [...FILED, '--if-exists', 'overwrite'] }], old: OLD },
];
