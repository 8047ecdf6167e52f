import { command } from '../../spec/command.ts';
import { FILE, SWITCH, TEXT } from '../../spec/kind.ts';
import { options } from '../../spec/option.ts';

export const OPTIONS = options({
  input: { kind: FILE, short: 'i', value: 'FILE', help: 'accession numbers, one a line; - is stdin' },
  include: {
    kind: TEXT,
    value: 'GLOB',
    repeatable: true,
    help: 'only names that match',
    more: 'Quoted, so that the shell leaves it alone: *, ?, [a-z], [!a], {a,b} and \\.',
  },
  exclude: { kind: TEXT, value: 'GLOB', repeatable: true, help: 'no names that match' },
  long: {
    kind: SWITCH,
    short: 'l',
    excludes: ['json', 'null'],
    help: 'a table with size, type and description, as on a terminal',
  },
  json: { kind: SWITCH, help: 'JSON Lines, one object a file' },
  null: {
    kind: SWITCH,
    short: '0',
    help: 'end each record with NUL, not a line break',
    more: 'Names are exact then, for xargs -0; otherwise control characters in them are shown as \\x1b or \\n.',
  },
  query: { kind: TEXT, value: 'NAME=VALUE', repeatable: true, help: 'a further parameter of the request' },
});

export const LIST = command({
  name: 'list',
  summary: 'list the file names of a filing',
  description: [
    'On a terminal it is a table, elsewhere one name a line. For several filings, or with --input, each line begins with the accession number and a tab.',
    'An accession number without files is told on stderr; for a single one that is exit status 5.',
  ],
  arguments: [{ name: 'ACCESSION', variadic: true, help: 'accession numbers, such as 0001234567-24-000001' }],
  options: OPTIONS,
  examples: [
    ['filings list 0001234567-24-000001', 'one name a line; on a terminal a table'],
    ["filings list 0001234567-24-000001 --include 'ex*' --json", 'the exhibits, as JSON Lines'],
    ['filings list --input accessions.txt > names.tsv', 'of many filings: accession number, tab, name'],
    ['filings list 0001234567-24-000001 -0 | xargs -0 -n 1 echo', 'whatever is in the names'],
    ['filings list 0001234567-24-000001 --json | filings download -i - -d filing', 'what is listed, downloaded'],
  ],
  asksService: true,
  settings: ['baseUrl', 'apiKeyFile', 'sandbox', 'jobs', 'pageSize', 'retries', 'deadline'],
  exits: [
    ['0', 'listed, also when the reader of stdout went away'],
    ['2', 'the command line or the configuration is wrong'],
    ['3', 'some of several filings could not be listed'],
    ['4', 'the service does not take the key or the token'],
    ['5', 'no such filing, or no name that matches'],
    ['7', 'temporary: running it again later is enough'],
    ['9', 'the answer is no listing'],
  ],
  seeAlso: ['filings-download(1)'],
  load: () => import('./run.ts'),
});
