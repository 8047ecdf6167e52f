import { command } from '../../spec/command.ts';
import { SWITCH } from '../../spec/kind.ts';
import { options } from '../../spec/option.ts';

export const OPTIONS = options({
  json: { kind: SWITCH, help: 'JSON Lines, one object a file that is not as listed, then a summary' },
  prune: { kind: SWITCH, help: 'rewrite each SHA256SUMS sorted, one entry a name' },
});

export const VERIFY = command({
  name: 'verify',
  summary: 'check downloaded files against their SHA256SUMS, offline',
  description: [
    "Finds every SHA256SUMS in and below DIRECTORY, hashes what they list, and prints 'missing', 'changed' or 'unlisted', a tab and the path of each file that is not as listed. --jobs says how many threads hash; unless told, no more than there are processors.",
    'The exit status is 0 when all is as listed, also beside unlisted files; 9 when a file is missing or changed; 2 when there is no SHA256SUMS.',
  ],
  arguments: [
    { name: 'DIRECTORY', required: true, variadic: true, completes: 'directory', help: 'what was downloaded to' },
  ],
  options: OPTIONS,
  examples: [
    ['filings verify exhibits', 'whether all files are there, and unchanged'],
    ['filings verify mirror --json | jq -r \'select(.result == "changed").path\'', 'the changed ones, for a program'],
  ],
  load: () => import('./run.ts'),
});
