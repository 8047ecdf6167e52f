import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { Counts } from '../../src/batch/counts.ts';
import type { FileItem } from '../../src/batch/item.ts';
import { describeBatch, describeOutcome, formatInputLine, formatReportLine } from '../../src/batch/report.ts';
import { FilingsError } from '../../src/errors.ts';
import { readLines } from '../../src/input/lines.ts';
import { Secrets } from '../../src/secrets.ts';
import { parseAccession } from '../../src/service/accession.ts';
import type { Outcome } from '../../src/transfer/outcome.ts';

const TIME = '2026-04-01T10:00:00.000Z';
const FILE = { accession: parseAccession('0001234567-24-000001'), fileName: 'primary.htm' };
const outcome = (more: Partial<Outcome> = {}): Outcome => ({
  result: 'downloaded',
  path: 'out/primary.htm',
  bytes: 100,
  resumedBytes: 0,
  verifiedLength: true,
  attempts: 1,
  ms: 12.7,
  keptBytes: 0,
  ...more,
});

const error = new FilingsError('temporary', 'x: 429', { hint: 'wait', retryAt: Date.parse('2025-04-01T10:00:00Z') });
const failed = {
  retry_at: '2025-04-01T10:00:00.000Z',
  error: { code: 'temporary', exit_code: 7, message: 'x: 429', hint: 'wait' },
};
const file = { v: 1, time: TIME, accession_no: FILE.accession, file_name: FILE.fileName, path: 'out/primary.htm' };
const how = { result: 'downloaded', bytes: 100, verified_length: true, attempts: 1, ms: 13 };
const secrets = new Secrets();
secrets.add('a-secret-key');
const ODD = 'a\n"b\u2028c';
test.each`
  what                       | fileName         | more                              | expected
  ${'a downloaded file'}     | ${FILE.fileName} | ${{ etag: '"v1"', sha256: 'ab' }} | ${{ etag: '"v1"', sha256: 'ab' }}
  ${'an ETag with a secret'} | ${FILE.fileName} | ${{ etag: '"a-secret-key"' }}     | ${{ etag: '"[redacted]"' }}
  ${'a failed file'}         | ${FILE.fileName} | ${{ result: 'failed', error }}    | ${{ result: 'failed', ...failed }}
  ${'an odd name'}           | ${ODD}           | ${{ path: ODD }}                  | ${{ file_name: ODD, path: ODD }}
`('the report of $what is one line', ({ fileName, more, expected }) => {
  const line = formatReportLine({ ...FILE, fileName } as FileItem, outcome(more), TIME, { platform: 'linux', secrets });
  expect(line.split(/[\n\u2028]/)).toHaveLength(1);
  expect(JSON.parse(line)).toEqual({ ...file, ...how, ...expected });
});

test.each`
  more                                       | line
  ${{}}                                      | ${'out/primary.htm: 100 B'}
  ${{ path: null }}                          | ${'primary.htm: 100 B'}
  ${{ result: 'skipped' }}                   | ${'out/primary.htm: already exists, skipped (--if-exists overwrite replaces it)'}
  ${{ result: 'resumed', resumedBytes: 60 }} | ${'out/primary.htm: 100 B, resumed at 60 B'}
  ${{ verifiedLength: false }}               | ${'out/primary.htm: 100 B (the service sent no length to check it against)'}
`('the outcome $more is printed as: $line', ({ more, line }) => {
  expect(describeOutcome('primary.htm', outcome(more))).toBe(line);
});

test('the summary counts each file once and only the bytes of downloaded files', () => {
  let now = 0;
  const counts = new Counts({}, () => now);
  now = 3200;
  counts.requests = 4;
  const end = { notStarted: { files: 2, filings: 3 }, stoppedBy: undefined, exitCode: 7, directory: 'out' };
  const add = (more?: Partial<Outcome>) => counts.addOutcome(outcome(more), undefined);
  add({ result: 'skipped', bytes: 500 });
  expect(describeBatch(counts, { ...end, notStarted: { files: 0, filings: 0 } })).toBe('1 skipped; 4 requests, 3.2 s');
  add();
  add({ result: 'resumed', resumedBytes: 60 });
  add({ result: 'failed', bytes: 0, keptBytes: 10_000_000, error: new FilingsError('temporary', 'x') });
  expect(describeBatch(counts, end)).toBe(
    '2 downloaded (200 B) to out, 1 of them resumed, 1 skipped, 1 failed, 2 files and 3 filings not started, 10 MB kept; 4 requests, 3.2 s; run the same command to resume',
  );
  add({ result: 'failed', error: new FilingsError('integrity', 'truncated', { retryable: true }) });
  add({ result: 'failed', error: new FilingsError('integrity', 'wrong hash') });
  for (const _ of [1, 2]) add({ result: 'failed', error: new FilingsError('usage', 'line') });
  expect(describeBatch(counts, end)).toContain('5 failed, ');
  expect([counts.endedFiles, counts.permanentFailures]).toEqual([8, 3]);
});

test.each`
  name                      | line
  ${undefined}              | ${FILE.accession}
  ${'a b.htm'}              | ${`${FILE.accession} a b.htm`}
  ${'#1.htm'}               | ${`${FILE.accession}\t#1.htm`}
  ${'a #1'}                 | ${`${FILE.accession} a #1`}
  ${' a'}                   | ${`{"accession_no":"${FILE.accession}","file_name":" a"}`}
  ${'a\nb'}                 | ${`{"accession_no":"${FILE.accession}","file_name":"a\\nb"}`}
  ${'a\tb'}                 | ${`{"accession_no":"${FILE.accession}","file_name":"a\\tb"}`}
  ${'\ud800'}               | ${`{"accession_no":"${FILE.accession}","file_name":"\\ud800"}`}
  ${'0001234567-24-000002'} | ${`{"accession_no":"${FILE.accession}","file_name":"0001234567-24-000002"}`}
`('the line of the name $name for --input is read back unchanged', async ({ name, line }) => {
  expect(formatInputLine(FILE.accession, name)).toBe(line);
  for (const separator of [' ', '\t']) {
    const text = formatInputLine(FILE.accession, name, separator);
    for await (const lines of readLines(Readable.from([text]), () => {}))
      expect(lines).toEqual([{ kind: 'entry', accession: FILE.accession, fileName: name, number: 1 }]);
  }
});
