import { SETTINGS } from '../../settings/table.ts';
import { type ArgumentSpec, command } from '../../spec/command.ts';
import { SWITCH } from '../../spec/kind.ts';
import { options } from '../../spec/option.ts';

export const LIST_OPTIONS = options({ json: { kind: SWITCH, help: 'JSON Lines, one object a setting' } });
export const CHECK_OPTIONS = options({ json: { kind: SWITCH, help: 'JSON Lines, one object for each part checked' } });

const SETTING: ArgumentSpec = {
  name: 'KEY',
  required: true,
  suggests: SETTINGS.filter((spec) => spec.inFile).map((spec) => spec.key),
  help: "a setting's name: 'filings help config' shows them all",
};

export const CONFIG = command({
  name: 'config',
  summary: 'show and change settings',
  children: [
    command({
      name: 'list',
      summary: 'show every setting with where it comes from and its default, and the profiles',
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
      arguments: [SETTING, { name: 'VALUE', help: 'its value; a secret is asked for, or read from stdin' }],
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
      options: CHECK_OPTIONS,
      arguments: [{ name: 'ACCESSION', help: 'the filing to ask for; one that does not exist unless told' }],
      load: () => import('./check.ts'),
    }),
  ],
});
