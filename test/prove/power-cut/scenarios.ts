import { accession } from '../../servers/archive.ts';
import { MIRROR } from '../mirror-line.ts';
import type { Tree } from './crash-state.ts';
import type { Act, Scenario } from './scenario.ts';

const BATCH = [...MIRROR, '-j', '3', '--retries', '0'];
const FILED = [...BATCH, '--report', 'report'];
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

export const SCENARIOS: readonly Scenario[] = [
  { name: 'a batch', acts: [{ args: FILED }] },
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
  { name: 'two batches at once', acts: [{ args: FILED, isTwice: true }] },
];
