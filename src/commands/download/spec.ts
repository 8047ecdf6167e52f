import { command } from '../../spec/command.ts';
import { BANDWIDTH, choice, count, DIRECTORY, DURATION, FILE, type Kind, SIZE, SWITCH, TEXT } from '../../spec/kind.ts';
import { options } from '../../spec/option.ts';

/** As `sha256sum` prints it, in either case. */
const SHA256: Kind<string> = {
  parse: (text) => /^[0-9a-f]{64}$/.exec(text.trim().toLowerCase())?.[0],
  wanted: '64 hexadecimal digits',
  hint: 'take it as sha256sum prints it',
};

/** What is of use for one file alone. */
const FOR_ONE = ['all', 'include', 'exclude', 'input'] as const;

export const OPTIONS = options({
  output: {
    kind: FILE,
    short: 'o',
    value: 'PATH',
    excludes: [...FOR_ONE, 'layout', 'checksums'],
    help: 'where one file goes; - is stdout',
  },
  directory: {
    kind: DIRECTORY,
    short: 'd',
    value: 'DIR',
    otherwise: 'the working directory',
    excludes: ['output'],
    help: 'where files go; made if missing',
  },
  layout: {
    kind: TEXT,
    value: 'TEMPLATE',
    otherwise: '{file_name}; with --input {accession_no}/{file_name}',
    help: 'the path below DIR, of {accession_no} and {file_name}',
  },
  all: { kind: SWITCH, help: 'every file of the listing' },
  include: { kind: TEXT, value: 'GLOB', repeatable: true, help: 'the files of the listing that match' },
  exclude: { kind: TEXT, value: 'GLOB', repeatable: true, help: 'but none that match' },
  input: {
    kind: FILE,
    short: 'i',
    value: 'FILE',
    help: "lines of ACCESSION, ACCESSION FILE, or objects as 'list --json' prints them; - is stdin",
  },
  ifExists: {
    kind: choice('skip', 'overwrite', 'error'),
    value: 'WHAT',
    otherwise: 'skip; overwrite with -o',
    help: 'what to do about a file that is there already',
  },
  dryRun: { kind: SWITCH, short: 'n', help: 'say what would be downloaded, and how much' },
  sha256: { kind: SHA256, value: 'HEX', excludes: FOR_ONE, help: 'what one file must hash to' },
  spool: { kind: SWITCH, excludes: FOR_ONE, help: 'with -o -: fetch and check all of it first, then write' },
  checksums: { kind: SWITCH, help: 'keep SHA256SUMS in each directory that is written to' },
  report: { kind: FILE, value: 'FILE', help: 'append JSON Lines, one object a file; - is stdout' },
  failed: { kind: FILE, value: 'FILE', help: 'write what failed, as lines for --input' },
  done: { kind: FILE, value: 'FILE', help: 'remember complete filings, and pass over them next time' },
  relistAfter: { kind: DURATION, value: 'DURATION', help: 'list filings of --done again that are older' },
  shard: { kind: TEXT, value: 'I/N|auto/N|auto', help: 'take one of N disjoint parts of the input' },
  maxBytes: { kind: SIZE, value: 'SIZE', help: 'begin no more once so much was received' },
  maxRequests: { kind: count(1, 1e12, 5000), value: 'N', help: 'begin no more once so many were sent' },
  stopAfter: { kind: DURATION, value: 'DURATION', help: 'begin no more after that time' },
  minFree: { kind: SIZE, value: 'SIZE', help: 'stop before the disk has less free' },
  limitRate: { kind: BANDWIDTH, value: 'SIZE/s', help: 'bandwidth, for all jobs together' },
  metrics: { kind: FILE, value: 'FILE', help: "a Prometheus text file, for node_exporter's collector" },
});

export const DOWNLOAD = command({
  name: 'download',
  summary: 'download files of filings, to disk or to stdout',
  description: [
    'Nothing but a complete file ever stands under a final name; what is there already is skipped, and what was interrupted is gone on with.',
  ],
  arguments: [
    { name: 'ACCESSION', help: 'the accession number, such as 0001234567-24-000001' },
    { name: 'FILE', variadic: true, completes: 'name', help: 'names of files within the filing' },
  ],
  options: OPTIONS,
  examples: [
    ['filings download 0001234567-24-000001 primary.htm', 'one file, into the working directory'],
    ['filings download 0001234567-24-000001 primary.htm -o - | wc -c', 'one file, into a pipe'],
    ["filings download 0001234567-24-000001 --include 'ex*' -d exhibits", 'the exhibits of a filing'],
    [
      "filings download -i accessions.txt --include 'ex*' -d exhibits --done exhibits.done --checksums",
      'a mirror, for cron',
    ],
  ],
  load: () => import('./run.ts'),
});
