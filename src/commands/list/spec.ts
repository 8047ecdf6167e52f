import { command } from '../../spec/command.ts';
import { FILE, SWITCH, TEXT } from '../../spec/kind.ts';
import { options } from '../../spec/option.ts';

export const OPTIONS = options({
  input: { kind: FILE, short: 'i', value: 'FILE', help: 'accession numbers, one a line; - is stdin' },
  include: { kind: TEXT, value: 'GLOB', repeatable: true, help: 'only names that match' },
  exclude: { kind: TEXT, value: 'GLOB', repeatable: true, help: 'no names that match' },
  long: {
    kind: SWITCH,
    short: 'l',
    excludes: ['json', 'null'],
    help: 'a table with size, type and description, as on a terminal',
  },
  json: { kind: SWITCH, help: 'JSON Lines, one object a file' },
  null: { kind: SWITCH, short: '0', help: 'end each record with NUL instead of a line break' },
  query: { kind: TEXT, value: 'NAME=VALUE', repeatable: true, help: 'a further parameter of the request' },
});

export const LIST = command({
  name: 'list',
  summary: 'list the file names of a filing',
  arguments: [{ name: 'ACCESSION', variadic: true, help: 'accession numbers, such as 0001234567-24-000001' }],
  options: OPTIONS,
  examples: [
    ['filings list 0001234567-24-000001', 'one name a line'],
    ["filings list 0001234567-24-000001 --include 'ex*' --json", 'the exhibits, as JSON Lines'],
  ],
  load: () => import('./run.ts'),
});
