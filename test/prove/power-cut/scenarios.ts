import { createHash } from 'node:crypto';
import { basename, dirname } from 'node:path';
import { formatSumsLine } from '../../../src/checksums/format.ts';
import { accession } from '../../servers/archive.ts';
import { MIRROR } from '../mirror-line.ts';
import type { Tree } from './crash-state.ts';
import type { Mood } from './service.ts';

/** One run of the program, and the state of the service during the run. */
export interface Act {
  readonly args: readonly string[];
  readonly mood?: Partial<Mood>;
  /** Whether the same command runs twice at the same time. */
  readonly isTwice?: boolean;
}

/** Consecutive runs on one disk. The power may fail at any moment. */
export interface Scenario {
  readonly name: string;
  readonly acts: readonly Act[];
  /** Files that exist before the runs, by path. */
  readonly old?: Tree;
  /** True if the last run resumes parts of the one before. */
  readonly resumes?: boolean;
  /** The files that must exist below `out` in the end. By default, all files of all filings. */
  readonly files?: readonly string[];
}

const BATCH = [...MIRROR, '-j', '3', '--retries', '0'];
const FILED = [...BATCH, '--report', 'report'];

const OLD_FILE = Buffer.from('the old file\n');
const OLD_HASH = createHash('sha256').update(OLD_FILE).digest('hex');
const [FILE, BESIDE, LARGE] = ['f0.htm', 'f1.htm', 'large.htm'].map((name) => `out/${accession(0)}/${name}`) as [
  string,
  string,
  string,
];
const old = (...paths: string[]): Tree => new Map(paths.map((path) => [path, OLD_FILE]));

/** Downloads one file with --output. The directory must exist. */
function alone(path: string, mood: Act['mood'] = {}): Act {
  const [, number = '', name = ''] = path.split('/');
  return { args: ['download', number, name, '-o', path, '--report', 'report', '-q', '--retries', '0'], mood };
}

export const SCENARIOS: readonly Scenario[] = [
  { name: 'a batch', acts: [{ args: FILED }] },
  { name: 'a batch that tells another machine', acts: [{ args: [...BATCH, '--report', '-'] }] },
  {
    name: 'a batch that is cut, and goes on',
    acts: [{ args: FILED, mood: { cuts: true } }, { args: FILED }],
    resumes: true,
  },
  {
    name: 'a batch that is cut, and finds another version',
    acts: [
      { args: FILED, mood: { cuts: true } },
      { args: FILED, mood: { version: 2 } },
    ],
  },
  { name: 'a batch over what is there', acts: [{ args: [...FILED, '--if-exists', 'overwrite'] }], old: old(FILE) },
  {
    name: 'a batch over what is there and listed',
    acts: [{ args: [...FILED, '--if-exists', 'overwrite'] }],
    old: new Map([
      ...old(FILE),
      [`${dirname(FILE)}/SHA256SUMS`, Buffer.from(formatSumsLine(basename(FILE), OLD_HASH))],
    ]),
  },
  { name: 'one file to a name', acts: [alone(FILE)], old: old(BESIDE), files: [FILE, BESIDE] },
  { name: 'one file over another', acts: [alone(FILE)], old: old(FILE), files: [FILE] },
  {
    name: 'one large file that is cut, and goes on',
    acts: [alone(LARGE, { cuts: true }), alone(LARGE)],
    old: old(BESIDE),
    resumes: true,
    files: [LARGE, BESIDE],
  },
  { name: 'two batches at once', acts: [{ args: FILED, isTwice: true }] },
];
