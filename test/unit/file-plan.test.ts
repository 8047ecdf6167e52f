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

const REQUEST: FileRequest = {
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

const plan = (existing: Existing, request: Partial<FileRequest>, known: FileFacts = {}) =>
  planFile(existing, { ...REQUEST, ...request }, known);

/**
 * A plan as one word, with `again` if the next run would fetch the file again. A failure is given as its code and
 * message.
 */
function textOf(filePlan: FilePlan): string {
  if (filePlan.kind === 'fail') return `${filePlan.error.code} ${filePlan.error.message}`;
  return 'isRepeated' in filePlan && filePlan.isRepeated ? `${filePlan.kind} again` : filePlan.kind;
}

type Row = [name: string, Existing, Partial<FileRequest>, plan: string, known?: FileFacts];

describe('without --if-exists, the plan', () => {
  test.each<Row>([
    ['a shared directory, nothing exists', NOTHING, {}, 'download again'],
    ['a shared directory, a file exists', FILE, {}, 'compare again'],
    ["in this filing's own directory, nothing exists", NOTHING, OWN, 'download'],
    ["in this filing's own directory, a file exists", FILE, OWN, 'settle'],
    ['--output, nothing exists', NOTHING, { isOutput: true }, 'replace again'],
    ['--output, a file exists', FILE, { isOutput: true }, 'replace again'],
    ["--output in this filing's own directory", FILE, { isOutput: true, ...OWN }, 'replace again'],
    ['--output and --if-exists skip', FILE, { isOutput: true, ...SKIP }, 'settle'],
    ["--if-exists compare in this filing's own directory", FILE, { ...OWN, ...COMPARE }, 'compare again'],
  ])('fits the target: %s', (_, existing, request, expected) => expect(textOf(plan(existing, request))).toBe(expected));
});

describe('the plan for a path', () => {
  const occupied = (what: string) => `local_io d/a.htm: cannot write: ${what} already exists there`;
  const EXISTS = 'local_io d/a.htm: it already exists';
  test.each<[name: string, Existing, skip: string, compare: string, overwrite: string, error: string]>([
    ['nothing', NOTHING, 'download', 'download again', 'replace again', 'download'],
    ['a file', FILE, 'settle', 'compare again', 'replace again', EXISTS],
    ['a link', LINK, occupied('a symbolic link'), occupied('a symbolic link'), 'replace again', EXISTS],
    ['a directory', DIRECTORY, ...repeated(occupied('a directory')), EXISTS],
    ['a device', SPECIAL, ...repeated(occupied('a special file')), EXISTS],
  ])('follows --if-exists if the path holds %s', (_, existing, ...expected) => {
    const plans = [SKIP, COMPARE, OVERWRITE, ERROR].map((request) => textOf(plan(existing, request)));
    expect(plans).toEqual(expected);
  });

  test.each([SKIP, COMPARE, OVERWRITE, ERROR])('fails with %j if another spelling of the name exists', (request) => {
    const expected = "local_io d/a.htm: 'A.HTM' exists, and this disk takes both names for one";
    expect(textOf(plan(SPELLED, request))).toBe(expected);
  });

  function repeated(text: string): [string, string, string] {
    return [text, text, text];
  }
});

describe('with --sha256, an existing file that may stay is checked', () => {
  const sha256 = HASH;
  test.each<Row>([
    ['--if-exists skip', FILE, { ...SKIP, sha256 }, 'check'],
    ['--if-exists compare', FILE, { ...COMPARE, sha256 }, 'check'],
    ['--if-exists overwrite', FILE, { ...OVERWRITE, sha256 }, 'replace again'],
    ['--if-exists error', FILE, { ...ERROR, sha256 }, 'local_io d/a.htm: it already exists'],
    ['a dry run', FILE, { ...COMPARE, sha256, isDryRun: true }, 'check'],
    ['another listed size', FILE, { ...SKIP, sha256, listedSize: 7 }, 'check'],
    ['another size sent by the service', FILE, { ...COMPARE, sha256 }, 'check', { fetchedBytes: 7 }],
    [
      'a symbolic link',
      LINK,
      { ...SKIP, sha256 },
      'local_io d/a.htm: cannot write: a symbolic link already exists there',
    ],
    ['nothing exists', NOTHING, { ...SKIP, sha256 }, 'download'],
  ])('%s', (_, existing, request, expected, known) => expect(textOf(plan(existing, request, known))).toBe(expected));
});

describe('the plan depends on the listed and the sent size', () => {
  const other = (bytes: number) =>
    `local_io d/a.htm: a different file already exists: it has 100 bytes, this one ${bytes}`;
  test.each<Row>([
    ['skip, equal listed size', FILE, { ...SKIP, listedSize: 100 }, 'settle'],
    ['skip, other listed size', FILE, { ...SKIP, listedSize: 7 }, 'compare again'],
    ['skip, listed size 0', FILE, { ...SKIP, listedSize: 0 }, 'compare again'],
    ['skip, other listed size ignored', FILE, { ...SKIP, listedSize: 7 }, 'settle', { areSizesIgnored: true }],
    ['compare, equal listed size', FILE, { ...COMPARE, listedSize: 100 }, 'compare again'],
    ['compare, equal sent size', FILE, COMPARE, 'compare again', { fetchedBytes: 100 }],
    ['compare, other sent size', FILE, COMPARE, other(7), { fetchedBytes: 7 }],
    ['compare, sent size 0', FILE, COMPARE, other(0), { fetchedBytes: 0 }],
    ['skip, other listed and sent size', FILE, { ...SKIP, listedSize: 7 }, other(7), { fetchedBytes: 7 }],
    ['skip, other sent size, no listed size', FILE, SKIP, 'settle', { fetchedBytes: 7 }],
    ['overwrite, other listed size', FILE, { ...OVERWRITE, listedSize: 7 }, 'replace again'],
    ['nothing exists, other sizes', NOTHING, { ...SKIP, listedSize: 7 }, 'download', { fetchedBytes: 9 }],
  ])('%s', (_, existing, request, expected, known) => expect(textOf(plan(existing, request, known))).toBe(expected));
});

describe('the plan for a kept file depends on its state and on --checksums', () => {
  const hasChecksums = true;
  const isDryRun = true;
  test.each<Row>([
    ['not settled', FILE, SKIP, 'settle'],
    ['settled', FILE, SKIP, 'keep', { isSettled: true }],
    ['--checksums', FILE, { ...SKIP, hasChecksums }, 'list'],
    ['--checksums, settled', FILE, { ...SKIP, hasChecksums }, 'list', { isSettled: true }],
    ['a dry run', FILE, { ...SKIP, isDryRun }, 'keep'],
    ['a dry run with --checksums', FILE, { ...SKIP, isDryRun, hasChecksums }, 'keep'],
    ['settled, --if-exists compare', FILE, COMPARE, 'compare again', { isSettled: true }],
  ])('%s', (_, existing, request, expected, known) => expect(textOf(plan(existing, request, known))).toBe(expected));
});

test('a dry run plans a download where the run downloads, and fails where the run fails', () => {
  for (const existing of [NOTHING, FILE, LINK, DIRECTORY, SPECIAL, SPELLED])
    for (const request of [SKIP, COMPARE, OVERWRITE, ERROR, OWN, { isOutput: true }, { ...SKIP, listedSize: 7 }]) {
      const [run, dry] = [false, true].map((isDryRun) => plan(existing, { ...request, isDryRun })) as [
        FilePlan,
        FilePlan,
      ];
      if (isFetch(run)) expect(dry).toEqual({ kind: 'planned', isRepeated: run.isRepeated });
      else expect(textOf(dry)).toBe(run.kind === 'settle' ? 'keep' : textOf(run));
    }
});

test("a path of one of the run's own files fails in every mode", () => {
  const runFileFault = new FilingsError('integrity', 'd/a.htm: would replace the file of --report');
  const expected = 'integrity d/a.htm: would replace the file of --report';
  for (const existing of [NOTHING, FILE, LINK])
    for (const request of [SKIP, COMPARE, OVERWRITE, ERROR])
      expect(textOf(plan(existing, request, { runFileFault }))).toBe(expected);
});

test('the second of two files of one run with the same path fails in every mode', () => {
  const accession = '0001234567-24-000001';
  const both = 'local_io d/a.htm: 0001234567-24-000001 and 0001234567-24-000002 both have a file with this path';
  for (const existing of [NOTHING, FILE, LINK])
    for (const request of [SKIP, COMPARE, OVERWRITE, ERROR, { ...SKIP, isDryRun: true }]) {
      expect(textOf(plan(existing, request, { pathOwner: { accession, isTwin: false } }))).toBe(both);
      const twin = textOf(plan(existing, request, { pathOwner: { accession, isTwin: true } }));
      expect(twin).toBe(`${both}, on disks that ignore case or accents`);
    }
});
