import { defineCommand } from '../../spec/command.ts';
import { FILE, QUERY, SWITCH, TEXT } from '../../spec/kind.ts';
import { defineOptions } from '../../spec/option.ts';

export const OPTIONS = defineOptions({
  input: { kind: FILE, short: 'i', value: 'FILE', help: 'read accession numbers from FILE, one per line; - is stdin' },
  include: {
    kind: TEXT,
    value: 'GLOB',
    repeatable: true,
    help: 'list only names that match',
    longHelp:
      'Quote GLOB, so that the shell does not expand it. It can contain *, ?, [a-z], [!a] and {a,b}. A backslash makes the next character literal.',
  },
  exclude: { kind: TEXT, value: 'GLOB', repeatable: true, help: 'leave out names that match' },
  long: {
    kind: SWITCH,
    short: 'l',
    excludes: ['json', 'null'],
    help: 'print a table with size, type and description',
  },
  json: { kind: SWITCH, help: 'print JSON Lines, one object per file' },
  null: {
    kind: SWITCH,
    short: '0',
    help: 'end each record with NUL instead of a line break',
    longHelp:
      'Names are then printed exactly as they are, for xargs -0. Otherwise control characters are escaped, such as \\x1b or \\n.',
  },
  query: { kind: QUERY, value: 'NAME=VALUE', repeatable: true, help: 'add a parameter to the request' },
});

export const LIST = defineCommand({
  name: 'list',
  summary: 'list the file names of a filing',
  description: [
    'On a terminal, prints a table, as --long does everywhere. Otherwise prints one name per line. For several filings, or with --input, the accession number comes first: in a column of the table, or before a tab.',
    'A filing that has no files, or none that match, is reported on stderr. If it is the only filing that you asked for, the exit status is 5.',
  ],
  arguments: [{ name: 'ACCESSION', variadic: true, help: 'accession numbers, such as 0001234567-24-000001' }],
  options: OPTIONS,
  examples: [
    ['filings list 0001234567-24-000001', 'list the files of a filing'],
    ["filings list 0001234567-24-000001 --include 'ex*' --json", 'list the exhibits as JSON Lines'],
    ['filings list --input accessions.txt > names.tsv', 'list many filings: accession number, tab, name'],
    [
      'filings list 0001234567-24-000001 -0 | xargs -0 -n 1 echo',
      'run a command for each name, even with blanks in it',
    ],
    ['filings list 0001234567-24-000001 --json | filings download -i - -d filing', 'download the listed files'],
  ],
  sendsRequests: true,
  load: () => import('./run.ts'),
});
