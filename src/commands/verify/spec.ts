import { defineCommand } from '../../spec/command.ts';
import { SWITCH } from '../../spec/kind.ts';
import { defineOptions } from '../../spec/option.ts';

export const OPTIONS = defineOptions({
  json: { kind: SWITCH, help: 'print JSON Lines: each difference, then a summary' },
});

export const VERIFY = defineCommand({
  name: 'verify',
  summary: 'check downloaded files against their SHA256SUMS, offline',
  description: [
    "Finds every SHA256SUMS in and below DIRECTORY and hashes the files listed there. For each file that is missing, changed or not listed, prints 'missing', 'changed' or 'unlisted', a tab and the path. A SHA256SUMS that has an unreadable line or no entries is 'damaged', and so is a directory whose name is not UTF-8. A SHA256SUMS whose last line is incomplete is 'torn', which is not a failure.",
    'The exit status is 9 if a file is missing or changed or a SHA256SUMS is damaged, and 2 if there is no SHA256SUMS at all. If the reader of stdout closes the pipe, it is 9 if something was missing, changed or damaged by then, otherwise 141.',
  ],
  arguments: [
    {
      name: 'DIRECTORY',
      required: true,
      variadic: true,
      help: 'a directory of downloaded files',
    },
  ],
  options: OPTIONS,
  examples: [
    ['filings verify exhibits', 'check that no file is missing or changed'],
    ['filings verify mirror --json > findings.jsonl', 'write the differences for another program'],
    // `download` skips the lines about unlisted files and about a SHA256SUMS itself, and the summary.
    [
      'filings verify mirror --json | filings download -i - -d mirror --checksums --if-exists overwrite',
      'download missing and changed files again',
    ],
  ],
  needsReader: true,
  load: () => import('./run.ts'),
});
