import { SETTINGS } from '../../settings/table.ts';
import { type ArgumentSpec, command } from '../../spec/command.ts';
import { SWITCH } from '../../spec/kind.ts';
import { flagOf, options } from '../../spec/option.ts';

export const LIST_OPTIONS = options({ json: { kind: SWITCH, help: 'JSON Lines, one object a setting' } });

/** Both spellings: as in the config file, and as a flag. */
const spellings = (key: string) => [...new Set([key, flagOf(key)])];
const IN_FILE = SETTINGS.filter((spec) => spec.inFile);

const SETTING: ArgumentSpec = {
  name: 'KEY',
  required: true,
  suggests: IN_FILE.flatMap(({ key }) => spellings(key)),
  help: "a setting's name: 'filings help config' shows them all",
};

export const CONFIG = command({
  name: 'config',
  summary: 'show and change settings',
  children: [
    command({
      name: 'list',
      summary: 'show each setting with where it comes from',
      options: LIST_OPTIONS,
      load: () => import('./list.ts'),
    }),
    command({
      name: 'get',
      summary: 'show one setting, wherever it comes from',
      arguments: [SETTING],
      load: () => import('./get.ts'),
    }),
    command({
      name: 'set',
      summary: 'write a setting into the config file, or into the profile that --profile names',
      arguments: [
        SETTING,
        {
          name: 'VALUE',
          help: 'its value; a secret is asked for, or read from stdin',
          after: Object.fromEntries(IN_FILE.flatMap(({ key, kind }) => spellings(key).map((name) => [name, kind]))),
        },
      ],
      examples: [
        ['filings config set base-url https://api.example.com', 'where the service is'],
        ['filings config set api-key', 'asks for the key without showing it'],
      ],
      load: () => import('./set.ts'),
    }),
    command({
      name: 'unset',
      summary: 'take a setting out of the config file, or out of the profile that --profile names',
      arguments: [SETTING],
      load: () => import('./unset.ts'),
    }),
    command({
      name: 'path',
      summary: 'print where the config file is',
      load: () => import('./path.ts'),
    }),
    command({
      name: 'check',
      summary: 'ask the service once, and tell whether address, certificate, key, token and clock are right',
      arguments: [{ name: 'ACCESSION', help: 'the filing to ask for; one that does not exist unless told' }],
      load: () => import('./check.ts'),
    }),
  ],
});
