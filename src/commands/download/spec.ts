import { command } from '../../spec/command.ts';
import { choice, DIRECTORY, FILE, type Kind, SWITCH } from '../../spec/kind.ts';
import { options } from '../../spec/option.ts';

/** As `sha256sum` prints it, in either case. */
const SHA256: Kind<string> = {
  parse: (text) => /^[0-9a-f]{64}$/.exec(text.trim().toLowerCase())?.[0],
  wanted: '64 hexadecimal digits',
  hint: 'take it as sha256sum prints it',
};

export const OPTIONS = options({
  output: { kind: FILE, short: 'o', value: 'PATH', help: 'where one file goes; - is stdout' },
  directory: {
    kind: DIRECTORY,
    short: 'd',
    value: 'DIR',
    otherwise: 'the working directory',
    excludes: ['output'],
    help: 'where files go; made if missing',
  },
  ifExists: {
    kind: choice('skip', 'overwrite', 'error'),
    value: 'WHAT',
    otherwise: 'skip; overwrite with -o',
    help: 'what to do about a file that is there already',
  },
  sha256: { kind: SHA256, value: 'HEX', help: 'what one file must hash to' },
  spool: { kind: SWITCH, help: 'with -o -: fetch and check all of it first, then write' },
  report: { kind: FILE, value: 'FILE', help: 'JSON Lines, one object a file; - is stdout' },
});

export const DOWNLOAD = command({
  name: 'download',
  summary: 'download files of a filing, to disk or to stdout',
  arguments: [
    { name: 'ACCESSION', required: true, help: 'the accession number, such as 0001234567-24-000001' },
    { name: 'FILE', variadic: true, help: 'names of files within the filing' },
  ],
  options: OPTIONS,
  examples: [
    ['filings download 0001234567-24-000001 primary.htm', 'one file, into the working directory'],
    ['filings download 0001234567-24-000001 primary.htm -o - | wc -c', 'one file, into a pipe'],
  ],
  load: () => import('./run.ts'),
});
