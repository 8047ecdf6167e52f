import { defineCommand } from '../../spec/command.ts';
import {
  BANDWIDTH,
  choice,
  DIRECTORY,
  DURATION,
  FILE,
  integer,
  type Kind,
  QUERY,
  SIZE,
  SWITCH,
  TEXT,
} from '../../spec/kind.ts';
import { defineOptions } from '../../spec/option.ts';

/** Accepts upper case as well, which PowerShell's Get-FileHash prints. The value is always in lower case. */
const SHA256: Kind<string> = {
  parse: (text) => /^[0-9a-f]{64}$/.exec(text.trim().toLowerCase())?.[0],
  expected: '64 hexadecimal digits, as sha256sum prints them',
};

/** Options that may select several files. Options for exactly one file exclude them. */
const BATCH_OPTIONS = ['all', 'include', 'exclude', 'input'] as const;

export const OPTIONS = defineOptions({
  output: {
    heading: 'Where files go',
    kind: FILE,
    short: 'o',
    value: 'PATH',
    // PATH is one file, or a stream such as stdout. A layout and checksums are for files below --directory.
    excludes: [...BATCH_OPTIONS, 'layout', 'checksums'],
    help: 'write a single file to PATH; - is stdout',
    longHelp:
      'An existing file is replaced when the download is complete, and not before. A device, a pipe and an open descriptor, such as /dev/stderr or /dev/fd/3, are written like stdout.',
  },
  directory: {
    kind: DIRECTORY,
    short: 'd',
    value: 'DIR',
    defaultText: '.',
    excludes: ['output'],
    help: 'write files to DIR; create it if needed',
  },
  layout: {
    kind: TEXT,
    value: 'TEMPLATE',
    defaultText: '{file_name} for FILE arguments, otherwise {accession_no}/{file_name}',
    help: 'set the path of each file below DIR',
  },
  // Does not exclude `include` here, because arguments.ts refuses both together with a better hint.
  all: {
    heading: 'Which files',
    kind: SWITCH,
    help: 'download all files of each filing',
    longHelp: 'Cannot be used with --include. To leave out some of the files, add --exclude.',
  },
  include: {
    kind: TEXT,
    value: 'GLOB',
    repeatable: true,
    help: 'download only files that match; quote the GLOB',
    longHelp:
      'Without quotes, the shell may expand the GLOB. It may contain *, ?, [a-z], [!a] and {a,b}, and \\ before a character that is meant literally.',
  },
  exclude: { kind: TEXT, value: 'GLOB', repeatable: true, help: 'skip the files that match' },
  input: {
    kind: FILE,
    short: 'i',
    value: 'FILE',
    help: 'read filings or files from FILE, one per line; - is stdin',
    longHelp:
      "A line is ACCESSION, ACCESSION FILE, or an object as 'filings list --json' prints it; blank lines and lines that begin with # are ignored. An invalid line is reported as a failed file.",
  },
  query: {
    kind: QUERY,
    value: 'NAME=VALUE',
    repeatable: true,
    help: 'add a parameter to requests for listings',
  },
  ifExists: {
    heading: 'Existing files and checks',
    kind: choice('skip', 'compare', 'overwrite', 'error'),
    value: 'ACTION',
    defaultText: 'skip or compare; overwrite with -o',
    help: 'choose what to do with an existing file',
    longHelp:
      "skip keeps the existing file and downloads nothing. compare downloads the file: if both have the same bytes, the file is skipped; if they differ, the download fails and the existing file stays. overwrite downloads the file and replaces the existing one. error fails without a download. With --sha256, neither skip nor compare downloads the file: the existing file must have that hash. Without -o, the default is skip in the filing's own directory, where the last accession number in the path is that of the filing. Elsewhere it is compare, because the existing file may belong to another filing.",
  },
  dryRun: { kind: SWITCH, short: 'n', help: 'print what would be downloaded; download nothing' },
  sha256: {
    kind: SHA256,
    value: 'HEX',
    excludes: BATCH_OPTIONS,
    help: 'require a single file to have this SHA-256',
  },
  checksums: {
    kind: SWITCH,
    help: 'write SHA256SUMS in each directory',
    longHelp:
      "'filings verify' and 'sha256sum --check' read it. An existing file that is not listed in it yet is hashed and added.",
  },
  report: {
    heading: 'Records',
    kind: FILE,
    value: 'FILE',
    help: 'append a JSON line for each file to FILE; - is stdout',
    longHelp:
      'A batch ends with a line that is its summary. A device, a pipe and an open descriptor are written like stdout.',
  },
  failed: { kind: FILE, value: 'FILE', help: 'write the failed files to FILE, as lines for --input' },
  done: {
    kind: FILE,
    value: 'FILE',
    help: 'remember complete filings in FILE, and skip them later',
    longHelp:
      'This is for filings whose files are selected by --all, --include or --exclude. A later run skips a filing only if it has the same selection, directory and layout.',
  },
  maxBytes: {
    heading: 'Limits',
    kind: SIZE,
    value: 'SIZE',
    help: 'stop starting downloads once SIZE has been received',
    longHelp:
      'SIZE, such as 500MB or 2GiB, includes listings and retries. Downloads in progress end normally, and the next run continues.',
  },
  maxRequests: {
    kind: integer({ min: 1, max: 1e12, example: 5000 }),
    value: 'N',
    help: 'stop starting downloads after N requests',
    longHelp: 'Downloads that have already started may send more.',
  },
  stopAfter: {
    kind: DURATION,
    value: 'DURATION',
    help: 'stop starting downloads after DURATION',
  },
  limitRate: {
    kind: BANDWIDTH,
    value: 'SIZE/s',
    help: 'limit the bandwidth of all jobs together',
  },
});

export const DOWNLOAD = defineCommand({
  name: 'download',
  summary: 'download files of filings, to disk or to stdout',
  description: [
    'A file gets its final name only when it is complete, and a complete file is never replaced unless you ask for it. In a directory named after the filing it is not downloaded again; elsewhere it is downloaded and compared. A download that is interrupted after its first 1 MiB is resumed.',
    'Several FILEs, --all, --include, --exclude and --input make a batch, which continues after a failed file and ends with a summary. To download what is still missing, run the same command again.',
  ],
  // The usual forms only: --exclude can be added to --all or --include, or select files without them.
  usages: ['ACCESSION FILE...', 'ACCESSION... --all | --include GLOB', '--input FILE [--all | --include GLOB]'],
  // ACCESSION is not required, because --input can replace it. For the parser, further accession numbers are FILEs:
  // arguments.ts tells them apart.
  arguments: [
    { name: 'ACCESSION', help: 'the accession number, such as 0001234567-24-000001' },
    { name: 'FILE', variadic: true, completes: 'listed file', help: 'file names of the filing' },
  ],
  options: OPTIONS,
  examples: [
    ['filings download 0001234567-24-000001 primary.htm', 'one file, into the working directory'],
    ["filings download 0001234567-24-000001 --include 'ex*' -d exhibits", 'the exhibits of a filing'],
    ['filings download -i accessions.txt --all -d mirror --done mirror.done', 'a mirror, for cron'],
    ['filings download 0001234567-24-000001 primary.htm -o - | wc -c', 'one file, into a pipe'],
    [
      'filings download -i accessions.txt --all -d mirror --checksums --failed failed.txt',
      'a mirror with checksums, and a list of the files that failed',
    ],
  ],
  sendsRequests: true,
  needsReader: true,
  load: () => import('./run.ts'),
});
