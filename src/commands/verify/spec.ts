import { command } from '../../spec/command.ts';
import { SWITCH } from '../../spec/kind.ts';
import { options } from '../../spec/option.ts';

export const OPTIONS = options({
  json: { kind: SWITCH, help: 'print JSON Lines: what is not as listed, then a summary' },
});

export const VERIFY = command({
  name: 'verify',
  summary: 'check downloaded files against their SHA256SUMS, offline',
  description: [
    "Finds every SHA256SUMS in and below DIRECTORY, hashes the files that they list, and prints 'missing', 'changed' or 'unlisted', a tab and the path of each file that is not as listed. A SHA256SUMS with an unreadable line or without entries is 'damaged'; one whose last line is incomplete is 'torn', which is no failure.",
    'Exit status 9: a file is missing or changed, or a SHA256SUMS is damaged; 2: there is no SHA256SUMS at all.',
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
    ['filings verify exhibits', 'check that all files are there and unchanged'],
    ['filings verify mirror --json > findings.jsonl', 'for a program'],
    [
      'filings verify mirror --json | filings download -i - -d mirror --checksums --if-exists overwrite',
      'repair a mirror',
    ],
  ],
  load: () => import('./run.ts'),
});
