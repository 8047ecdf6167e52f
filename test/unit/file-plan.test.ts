import type { Stats } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import {
  type Existing,
  type FileFacts,
  type FilePlan,
  type FileRequest,
  isFetch,
  planFile,
} from '../../src/transfer/file-plan.ts';

const HASH = 'a'.repeat(64);
const NOTHING: Existing = { kind: 'nothing' };
const SPELLED: Existing = { kind: 'other-spelling', name: 'A.HTM' };
const stats = { size: 100 } as Stats;
const FILE: Existing = { kind: 'file', stats };
const LINK: Existing = { kind: 'link', stats };
const DIRECTORY: Existing = { kind: 'directory', stats };
const SPECIAL: Existing = { kind: 'special', stats };

const ASKED: FileRequest = {
  accession: '0001234567-24-000002',
  displayPath: 'd/a.htm',
  ifExists: undefined,
  isOutput: false,
  isInOwnDirectory: false,
  sha256: undefined,
  listedSize: undefined,
  hasChecksums: false,
  isDryRun: false,
};
const OWN = { isInOwnDirectory: true };
const SKIP = { ifExists: 'skip' } as const;
const COMPARE = { ifExists: 'compare' } as const;
const OVERWRITE = { ifExists: 'overwrite' } as const;
const ERROR = { ifExists: 'error' } as const;

const plan = (existing: Existing, asked: Partial<FileRequest>, known: FileFacts = {}) =>
  planFile(existing, { ...ASKED, ...asked }, known);

/** A plan in a word; `again` if the next run fetches the file again; of a failure the code and the message. */
function told(made: FilePlan): string {
  if (made.kind === 'fail') return `${made.error.code} ${made.error.message}`;
  return 'isRepeated' in made && made.isRepeated ? `${made.kind} again` : made.kind;
}

type Row = [name: string, Existing, Partial<FileRequest>, plan: string, known?: FileFacts];

describe('the default of --if-exists', () => {
  test.each<Row>([
    ['elsewhere, nothing exists', NOTHING, {}, 'download again'],
    ['elsewhere, a file exists', FILE, {}, 'compare again'],
    ["in this filing's own directory, nothing exists", NOTHING, OWN, 'download'],
    ["in this filing's own directory, a file exists", FILE, OWN, 'settle'],
    ['--output, nothing exists', NOTHING, { isOutput: true }, 'replace again'],
    ['--output, a file exists', FILE, { isOutput: true }, 'replace again'],
    ["--output in this filing's own directory", FILE, { isOutput: true, ...OWN }, 'replace again'],
    ['--output and --if-exists skip', FILE, { isOutput: true, ...SKIP }, 'settle'],
    ["--if-exists compare in this filing's own directory", FILE, { ...OWN, ...COMPARE }, 'compare again'],
  ])('%s', (_, existing, asked, expected) => expect(told(plan(existing, asked))).toBe(expected));
});

describe('what exists, and --if-exists', () => {
  const occupied = (what: string) => `local_io d/a.htm: cannot write: ${what} already exists there`;
  const EXISTS = 'local_io d/a.htm: it already exists';
  test.each<[name: string, Existing, skip: string, compare: string, overwrite: string, error: string]>([
    ['nothing', NOTHING, 'download', 'download again', 'replace again', 'download'],
    ['a file', FILE, 'settle', 'compare again', 'replace again', EXISTS],
    ['a link', LINK, occupied('a symbolic link'), occupied('a symbolic link'), 'replace again', EXISTS],
    ['a directory', DIRECTORY, ...repeated(occupied('a directory')), EXISTS],
    ['a device', SPECIAL, ...repeated(occupied('a special file')), EXISTS],
  ])('%s', (_, existing, ...expected) => {
    const plans = [SKIP, COMPARE, OVERWRITE, ERROR].map((asked) => told(plan(existing, asked)));
    expect(plans).toEqual(expected);
  });

  test.each([SKIP, COMPARE, OVERWRITE, ERROR])('another spelling of the name fails with %j', (asked) => {
    const expected = "local_io d/a.htm: 'A.HTM' exists, and this disk takes both names for one";
    expect(told(plan(SPELLED, asked))).toBe(expected);
  });

  function repeated(text: string): [string, string, string] {
    return [text, text, text];
  }
});

describe('--sha256', () => {
  const sha256 = HASH;
  test.each<Row>([
    ['skip hashes the existing file', FILE, { ...SKIP, sha256 }, 'check'],
    ['compare hashes the existing file', FILE, { ...COMPARE, sha256 }, 'check'],
    ['overwrite downloads', FILE, { ...OVERWRITE, sha256 }, 'replace again'],
    ['error fails', FILE, { ...ERROR, sha256 }, 'local_io d/a.htm: it already exists'],
    ['a dry run hashes, too', FILE, { ...COMPARE, sha256, isDryRun: true }, 'check'],
    ['the listed size does not matter', FILE, { ...SKIP, sha256, listedSize: 7 }, 'check'],
    ['nor does the size that the service sends', FILE, { ...COMPARE, sha256 }, 'check', { fetchedBytes: 7 }],
    [
      'a link is not hashed',
      LINK,
      { ...SKIP, sha256 },
      'local_io d/a.htm: cannot write: a symbolic link already exists there',
    ],
    ['nothing exists', NOTHING, { ...SKIP, sha256 }, 'download'],
  ])('%s', (_, existing, asked, expected, known) => expect(told(plan(existing, asked, known))).toBe(expected));
});

describe('sizes', () => {
  const other = (bytes: number) =>
    `local_io d/a.htm: a different file already exists: it has 100 bytes, this one ${bytes}`;
  test.each<Row>([
    ['skip, the listed one', FILE, { ...SKIP, listedSize: 100 }, 'settle'],
    ['skip, another listed one', FILE, { ...SKIP, listedSize: 7 }, 'compare again'],
    ['skip, a listed 0', FILE, { ...SKIP, listedSize: 0 }, 'compare again'],
    ['skip, listed sizes are ignored', FILE, { ...SKIP, listedSize: 7 }, 'settle', { areSizesIgnored: true }],
    ['compare, the listed one', FILE, { ...COMPARE, listedSize: 100 }, 'compare again'],
    ['compare, the same comes', FILE, COMPARE, 'compare again', { fetchedBytes: 100 }],
    ['compare, another comes', FILE, COMPARE, other(7), { fetchedBytes: 7 }],
    ['compare, an empty file comes', FILE, COMPARE, other(0), { fetchedBytes: 0 }],
    ['skip, another comes than is listed', FILE, { ...SKIP, listedSize: 7 }, other(7), { fetchedBytes: 7 }],
    ['skip, another comes, none is listed', FILE, SKIP, 'settle', { fetchedBytes: 7 }],
    ['overwrite, another listed one', FILE, { ...OVERWRITE, listedSize: 7 }, 'replace again'],
    ['nothing exists', NOTHING, { ...SKIP, listedSize: 7 }, 'download', { fetchedBytes: 9 }],
  ])('%s', (_, existing, asked, expected, known) => expect(told(plan(existing, asked, known))).toBe(expected));
});

describe('a file that is kept', () => {
  const hasChecksums = true;
  const isDryRun = true;
  test.each<Row>([
    ['nothing is known of it', FILE, SKIP, 'settle'],
    ['it is settled', FILE, SKIP, 'keep', { isSettled: true }],
    ['--checksums', FILE, { ...SKIP, hasChecksums }, 'list'],
    ['--checksums, it is settled', FILE, { ...SKIP, hasChecksums }, 'list', { isSettled: true }],
    ['a dry run', FILE, { ...SKIP, isDryRun }, 'keep'],
    ['a dry run with --checksums', FILE, { ...SKIP, isDryRun, hasChecksums }, 'keep'],
    ['it is settled, and compared all the same', FILE, COMPARE, 'compare again', { isSettled: true }],
  ])('%s', (_, existing, asked, expected, known) => expect(told(plan(existing, asked, known))).toBe(expected));
});

test('a dry run plans what would be fetched, and fails as the run does', () => {
  for (const existing of [NOTHING, FILE, LINK, DIRECTORY, SPECIAL, SPELLED])
    for (const asked of [SKIP, COMPARE, OVERWRITE, ERROR, OWN, { isOutput: true }, { ...SKIP, listedSize: 7 }]) {
      const [run, dry] = [false, true].map((isDryRun) => plan(existing, { ...asked, isDryRun })) as [
        FilePlan,
        FilePlan,
      ];
      if (isFetch(run)) expect(dry).toEqual({ kind: 'planned', isRepeated: run.isRepeated });
      else expect(told(dry)).toBe(run.kind === 'settle' ? 'keep' : told(run));
    }
});

test("the run's own file is never replaced, nor taken for a download", () => {
  const runFileFault = new FilingsError('integrity', 'd/a.htm: would replace the file of --report');
  const expected = 'integrity d/a.htm: would replace the file of --report';
  for (const existing of [NOTHING, FILE, LINK])
    for (const asked of [SKIP, COMPARE, OVERWRITE, ERROR])
      expect(told(plan(existing, asked, { runFileFault }))).toBe(expected);
});

test('the second of two files of one run with the same path fails, whatever exists', () => {
  const accession = '0001234567-24-000001';
  const both = 'local_io d/a.htm: 0001234567-24-000001 and 0001234567-24-000002 both have a file with this path';
  for (const existing of [NOTHING, FILE, LINK])
    for (const asked of [SKIP, COMPARE, OVERWRITE, ERROR, { ...SKIP, isDryRun: true }]) {
      expect(told(plan(existing, asked, { pathOwner: { accession, isTwin: false } }))).toBe(both);
      const twin = told(plan(existing, asked, { pathOwner: { accession, isTwin: true } }));
      expect(twin).toBe(`${both}, on disks that ignore case or accents`);
    }
});
