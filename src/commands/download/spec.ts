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
    more: 'It is overwritten as by >, but whole or not at all. A device or a pipe is written to like stdout.',
  },
  directory: {
    kind: DIRECTORY,
    short: 'd',
    value: 'DIR',
    otherwise: '.',
    excludes: ['output'],
    help: 'where files go; made if missing',
  },
  layout: {
    kind: TEXT,
    value: 'TEMPLATE',
    otherwise: '{file_name}; with --input {accession_no}/{file_name}',
    rare: true,
    help: 'the path below DIR, of {accession_no} and {file_name}',
  },
  all: { kind: SWITCH, help: 'every file of the listing' },
  include: {
    kind: TEXT,
    value: 'GLOB',
    repeatable: true,
    help: 'the files of the listing that match',
    more: 'Quoted, so that the shell leaves it alone: *, ?, [a-z], [!a], {a,b} and \\.',
  },
  exclude: { kind: TEXT, value: 'GLOB', repeatable: true, help: 'but none that match' },
  input: {
    kind: FILE,
    short: 'i',
    value: 'FILE',
    help: 'filings or files, one a line; - is stdin',
    more: "A line is ACCESSION, ACCESSION FILE, or an object as 'filings list --json' prints it; empty lines and those that begin with # are passed over. A line that can't be read is a failed file, and the rest goes on.",
  },
  query: {
    kind: TEXT,
    value: 'NAME=VALUE',
    repeatable: true,
    rare: true,
    help: "add a parameter to the listing's request",
  },
  ifExists: {
    kind: choice('skip', 'overwrite', 'error'),
    value: 'WHAT',
    otherwise: 'skip',
    help: 'if there: skip, overwrite or error',
    more: 'What stands under its final name is complete, so it is skipped; with --sha256 it is hashed first. With -o the default is overwrite.',
  },
  dryRun: { kind: SWITCH, short: 'n', help: 'say what would be downloaded, and how much' },
  sha256: { kind: SHA256, value: 'HEX', excludes: FOR_ONE, help: 'what one file must hash to' },
  spool: {
    kind: SWITCH,
    rare: true,
    excludes: FOR_ONE,
    help: 'with -o -: fetch and check all of it first, then write',
  },
  checksums: {
    kind: SWITCH,
    help: 'keep SHA256SUMS in each directory written to',
    more: "For 'filings verify' and 'sha256sum --check'. A file that is there and not in it is hashed, and added.",
  },
  report: {
    kind: FILE,
    value: 'FILE',
    help: 'append JSON Lines, one object a file; - is stdout',
    more: "A batch's last line sums it up.",
  },
  failed: { kind: FILE, value: 'FILE', help: 'write what failed, as lines for --input' },
  done: {
    kind: FILE,
    value: 'FILE',
    help: 'remember complete filings, pass over them next time',
    more: 'Of filings whose files were chosen from their listing: with the same selection, directory and layout they are not asked for again.',
  },
  maxBytes: {
    kind: SIZE,
    value: 'SIZE',
    help: 'start no new downloads after SIZE received',
    more: 'Such as 500MB or 2GiB; listings and repeats count, too. Downloads in flight finish; the next run continues.',
  },
  maxRequests: { kind: count(1, 1e12, 5000), value: 'N', rare: true, help: 'start no new downloads after N requests' },
  stopAfter: { kind: DURATION, value: 'DURATION', rare: true, help: 'start no new downloads after this time' },
  limitRate: { kind: BANDWIDTH, value: 'SIZE/s', help: 'bandwidth, for all jobs together' },
});

export const DOWNLOAD = command({
  name: 'download',
  summary: 'download files of filings, to disk or to stdout',
  description: [
    'Nothing but a complete file ever stands under a final name; what is there already is skipped, and what was interrupted is gone on with.',
    'One FILE is a download by itself; several, --all, --include and --input make a batch, which goes on after a file that fails and sums up at its end. Running the same command again fetches what is missing.',
  ],
  forms: ['ACCESSION FILE...', 'ACCESSION... --all | --include GLOB', '--input FILE [--all | --include GLOB]'],
  arguments: [
    { name: 'ACCESSION', help: 'the accession number, such as 0001234567-24-000001' },
    { name: 'FILE', variadic: true, completes: 'name', help: 'names of files within the filing' },
  ],
  options: OPTIONS,
  examples: [
    ['filings download 0001234567-24-000001 primary.htm', 'one file, into the working directory'],
    ["filings download 0001234567-24-000001 --include 'ex*' -d exhibits", 'the exhibits of a filing'],
    ['filings download -i accessions.txt --all -d mirror --done mirror.done', 'a mirror, for cron'],
    ['filings download 0001234567-24-000001 primary.htm -o - | wc -c', 'one file, into a pipe'],
    ['filings download -i accessions.txt --all -d mirror --dry-run', 'what would be downloaded, and how much'],
    [
      'filings download -i accessions.txt --all -d mirror --checksums --failed no.txt',
      "checksums for 'filings verify', and what failed for the next --input",
    ],
  ],
  asksService: true,
  settings: [
    'baseUrl',
    'apiKeyFile',
    'sandbox',
    'jobs',
    'rate',
    'pageSize',
    'retries',
    'maxRetryAfter',
    'deadline',
    'progress',
  ],
  exits: [
    ['0', 'all is there, also what was skipped'],
    ['2', 'the command line or the configuration is wrong'],
    ['3', 'a batch ended, and at least one file failed for good'],
    ['4', 'the service does not take the key or the token'],
    ['5', 'no such filing or file, or nothing that matches'],
    ['7', 'temporary: running it again later is enough'],
    ['8', 'the disk is full, or cannot be written'],
    ['9', 'truncated, changed meanwhile, or not what --sha256 says'],
    ['10', 'a limit of your own ended the batch: the next run continues'],
    ['130', 'interrupted by Ctrl-C; 143 by SIGTERM, 129 by SIGHUP'],
    ['141', 'the reader of -o - went away'],
  ],
  files: [
    ['.NAME.*.part', 'a file that is not complete yet, beside where it will stand'],
    ['SHA256SUMS', 'with --checksums, in each directory that is written to'],
  ],
  seeAlso: ['filings-list(1)', 'filings-verify(1)'],
  load: () => import('./run.ts'),
});
