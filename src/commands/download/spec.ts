import { command } from '../../spec/command.ts';
import {
  BANDWIDTH,
  choice,
  count,
  DIRECTORY,
  DURATION,
  FILE,
  type Kind,
  QUERY,
  SIZE,
  SWITCH,
  TEXT,
} from '../../spec/kind.ts';
import { options } from '../../spec/option.ts';

/** Accepts also upper case, as some tools print it. */
const SHA256: Kind<string> = {
  parse: (text) => /^[0-9a-f]{64}$/.exec(text.trim().toLowerCase())?.[0],
  expected: '64 hexadecimal digits, as sha256sum prints them',
};

/** Options that may select several files. */
const FOR_ONE = ['all', 'include', 'exclude', 'input'] as const;

export const OPTIONS = options({
  output: {
    heading: 'Where files go',
    kind: FILE,
    short: 'o',
    value: 'PATH',
    excludes: [...FOR_ONE, 'layout', 'checksums'],
    help: 'write the one file to PATH; - is stdout',
    longHelp: 'An existing file is overwritten, whole or not at all. A device or a pipe is written to like stdout.',
  },
  directory: {
    kind: DIRECTORY,
    short: 'd',
    value: 'DIR',
    defaultText: '.',
    excludes: ['output'],
    help: 'write files below DIR, created if missing',
  },
  layout: {
    kind: TEXT,
    value: 'TEMPLATE',
    defaultText: '{file_name} for named files, else {accession_no}/{file_name}',
    help: 'set the path below DIR of each file',
  },
  all: {
    heading: 'Which files',
    kind: SWITCH,
    help: 'download all files of each filing',
    longHelp: 'Not with --include; --exclude leaves files out.',
  },
  include: {
    kind: TEXT,
    value: 'GLOB',
    repeatable: true,
    help: 'download the files that match; quote the GLOB',
    longHelp: 'Quote it. It may hold *, ?, [a-z], [!a], {a,b} and \\.',
  },
  exclude: { kind: TEXT, value: 'GLOB', repeatable: true, help: 'skip the files that match' },
  input: {
    kind: FILE,
    short: 'i',
    value: 'FILE',
    help: 'read filings or files from FILE, one per line; - is stdin',
    longHelp:
      "A line is ACCESSION, ACCESSION FILE, or an object as 'filings list --json' prints it; blank lines and lines that begin with # are ignored. An invalid line is a failed file.",
  },
  query: {
    kind: QUERY,
    value: 'NAME=VALUE',
    repeatable: true,
    help: "add a parameter to the listing's request",
  },
  ifExists: {
    heading: 'Checks',
    kind: choice('skip', 'compare', 'overwrite', 'error'),
    value: 'WHAT',
    defaultText: 'skip or compare; overwrite with -o',
    help: 'do this when a file already exists',
    longHelp:
      "The default is skip if the last accession number among the folders of the path is this filing's, else compare. compare downloads the file: the same bytes count as skipped, other bytes are a failure, and the existing file stays. With --sha256 an existing file is hashed before it is skipped. With -o the default is overwrite.",
  },
  dryRun: { kind: SWITCH, short: 'n', help: 'print what would be downloaded, and download nothing' },
  sha256: {
    kind: SHA256,
    value: 'HEX',
    excludes: FOR_ONE,
    help: 'check that the one file has this SHA-256',
  },
  checksums: {
    kind: SWITCH,
    help: 'keep SHA256SUMS in each directory',
    longHelp: "For 'filings verify' and 'sha256sum --check'. An existing file that is not in it is hashed and added.",
  },
  report: {
    heading: 'Records',
    kind: FILE,
    value: 'FILE',
    help: 'append a JSON line for each file to FILE; - is stdout',
    longHelp: 'The last line of a batch is its summary.',
  },
  failed: { kind: FILE, value: 'FILE', help: 'write failed files to FILE, as lines for --input' },
  done: {
    kind: FILE,
    value: 'FILE',
    help: 'remember complete filings in FILE, to skip them later',
    longHelp: 'For filings chosen by --all or --include, with the same selection, directory and layout.',
  },
  maxBytes: {
    heading: 'Limits',
    kind: SIZE,
    value: 'SIZE',
    help: 'start no new downloads after SIZE received',
    longHelp:
      'For example 500MB or 2GiB, with listings and retries. Downloads in progress finish, and the next run continues.',
  },
  maxRequests: {
    kind: count(1, 1e12, 5000),
    value: 'N',
    help: 'start no new downloads after N requests',
  },
  stopAfter: {
    kind: DURATION,
    value: 'DURATION',
    help: 'start no new downloads after DURATION',
  },
  limitRate: {
    kind: BANDWIDTH,
    value: 'SIZE/s',
    help: 'limit the bandwidth of all jobs together',
  },
});

export const DOWNLOAD = command({
  name: 'download',
  summary: 'download files of filings, to disk or to stdout',
  description: [
    'A file appears under its name only when it is complete. A file that is already complete is not downloaded twice; interrupted downloads are resumed.',
    'Several FILEs, --all, --include and --input make a batch, which continues after a failed file and ends with a summary. Run the same command again to download what is missing.',
  ],
  forms: ['ACCESSION FILE...', 'ACCESSION... --all | --include GLOB', '--input FILE [--all | --include GLOB]'],
  arguments: [
    { name: 'ACCESSION', help: 'the accession number, such as 0001234567-24-000001' },
    { name: 'FILE', variadic: true, completes: 'name', help: 'file names of the filing' },
  ],
  options: OPTIONS,
  examples: [
    ['filings download 0001234567-24-000001 primary.htm', 'one file, into the working directory'],
    ["filings download 0001234567-24-000001 --include 'ex*' -d exhibits", 'the exhibits of a filing'],
    ['filings download -i accessions.txt --all -d mirror --done mirror.done', 'a mirror, for cron'],
    ['filings download 0001234567-24-000001 primary.htm -o - | wc -c', 'one file, into a pipe'],
    [
      'filings download -i accessions.txt --all -d mirror --checksums --failed no.txt',
      'with checksums, and a list of failed files',
    ],
  ],
  asksService: true,
  load: () => import('./run.ts'),
});
