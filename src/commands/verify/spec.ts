import { command } from '../../spec/command.ts';
import { SWITCH } from '../../spec/kind.ts';
import { options } from '../../spec/option.ts';

export const OPTIONS = options({
  json: { kind: SWITCH, help: 'JSON Lines, one a file that is not as listed, then a sum' },
  prune: {
    kind: SWITCH,
    help: 'rewrite each SHA256SUMS sorted, one entry a name',
    more: 'Entries of missing files stay, and so does what a download appends meanwhile.',
  },
});

export const VERIFY = command({
  name: 'verify',
  summary: 'check downloaded files against their SHA256SUMS, offline',
  description: [
    "Finds every SHA256SUMS in and below DIRECTORY, hashes what they list, and prints 'missing', 'changed' or 'unlisted', a tab and the path of each file that is not as listed. --jobs says how many threads hash; unless told, no more than there are processors.",
  ],
  arguments: [
    { name: 'DIRECTORY', required: true, variadic: true, completes: 'directory', help: 'what was downloaded to' },
  ],
  options: OPTIONS,
  examples: [
    ['filings verify exhibits', 'whether all files are there, and unchanged'],
    ['filings verify mirror --json > findings.jsonl', 'for a program'],
    ['filings verify mirror --prune', 'and tidy the checksum files up'],
    ['filings verify exhibits mirror | cut -f 2', 'the paths alone of what is missing, changed or unlisted'],
  ],
  settings: ['jobs'],
  exits: [
    ['0', 'all is as listed, also beside files that are not listed'],
    ['2', 'the command line is wrong, or there is no SHA256SUMS at all'],
    ['8', 'something cannot be read'],
    ['9', 'a file is missing or changed'],
  ],
  files: [['SHA256SUMS', "as sha256sum writes it, and 'filings download --checksums' keeps it"]],
  seeAlso: ['filings-download(1)', 'sha256sum(1)'],
  load: () => import('./run.ts'),
});
