import { accession } from '../../servers/archive.ts';
import { MIRROR } from '../mirror-line.ts';
import type { Tree } from './crash-state.ts';
import type { Act, Killed, Scenario } from './scenario.ts';

const BATCH = [...MIRROR, '-j', '3', '--retries', '0'];
const FILED = [...BATCH, '--report', 'report'];
/** Uses another done list, so that the run checks every filing. */
const LISTED_ANEW = FILED.map((arg) => (arg === 'done' ? 'done-anew' : arg));
const NEW = { version: 2, cuts: false };

const OLD_FILE = Buffer.from('the old file\n');
const OLD: Tree = new Map([['out/0001234567-24-000001/f0.htm', OLD_FILE]]);

const FILING = accession(0);
const FILE = `out/${FILING}/f0.htm`;
const LARGE = `out/${FILING}/large.htm`;

/** A second file, which makes the directory exist. */
const BESIDE: Tree = new Map([[`out/${FILING}/f1.htm`, OLD_FILE]]);

/** Downloads one file with --output. The directory must exist. */
function alone(path: string, mood: Act['mood'] = {}): Act {
  const name = path.split('/').at(-1) ?? '';
  const options = ['--report', 'report', '-q', '--retries', '0'];
  return { args: ['download', FILING, name, '-o', path, ...options], mood };
}

function killed(when: string, at: Killed['at'], named: Killed['named']): Scenario {
  const acts = [{ args: FILED, killed: { at, named } }, { args: FILED }];
  return { name: `a batch that is killed ${when}, and goes on`, acts };
}

/** The simplest scenario. */
export const BATCH_ALONE: Scenario = { name: 'a batch', acts: [{ args: FILED }] };
const INTO: Act = {
  args: ['download', FILING, 'f0.htm', '-d', `out/${FILING}`, '--report', 'report', '-q', '--retries', '0'],
};
/** Only the second run can flush the name of this file, when it checks the existing file. */
export const KILLED: Scenario = {
  name: 'one file, killed when it has its name, which is not flushed, and again',
  acts: [{ ...INTO, killed: { at: ['unlink', 1], named: ['link', /\/f0\.htm$/] } }, INTO],
  // The name of the report is durable.
  old: new Map([...BESIDE, ['report', Buffer.alloc(0)]]),
  files: [FILE, ...BESIDE.keys()],
};

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
  killed('when a file has its name, which is not flushed', ['unlink', 1], ['link', /\/\w+\.htm$/]),
  killed('when DIR is made, and not flushed', ['fsync', 1], ['mkdir', /out$/]),
  killed('when a directory below it is made, and not flushed', ['fsync', 3], ['mkdir', /\/[-\d]+$/]),
  { name: 'a batch over what is there', acts: [{ args: [...FILED, '--if-exists', 'overwrite'] }], old: OLD },
  {
    name: 'one file to a name',
    acts: [alone(FILE)],
    old: BESIDE,
    files: [FILE, ...BESIDE.keys()],
  },
  { name: 'one file over another', acts: [alone(FILE)], old: new Map([[FILE, OLD_FILE]]), files: [FILE] },
  {
    name: 'one large file that is cut, and goes on',
    resumes: true,
    acts: [alone(LARGE, { cuts: true }), alone(LARGE, { cuts: false })],
    old: BESIDE,
    files: [LARGE, ...BESIDE.keys()],
  },
  { name: 'two batches at once', acts: [{ args: FILED, beside: {} }], sweeps: LISTED_ANEW },
  {
    name: 'two batches at once, the first of which is killed',
    acts: [{ args: FILED, beside: { killedBehind: FILE } }],
    sweeps: LISTED_ANEW,
  },
];
