import { RECIPE_MEMBERS, SETTINGS } from '../../settings/table.ts';
import { type ArgumentSpec, command } from '../../spec/command.ts';
import { SWITCH } from '../../spec/kind.ts';
import { flagOf, options } from '../../spec/option.ts';

export const LIST_OPTIONS = options({ json: { kind: SWITCH, help: 'JSON Lines, one object a setting' } });
export const CHECK_OPTIONS = options({ json: { kind: SWITCH, help: 'JSON Lines, one object for each part checked' } });

/** What the file may hold, as flags are spelled: settings, and the members of the one that has members. */
const NAMES = SETTINGS.filter((spec) => spec.inFile).flatMap(({ key, kind }) => [
  flagOf(key),
  ...(kind.json === 'recipe' ? Object.keys(RECIPE_MEMBERS).map((member) => flagOf(`${key}.${member}`)) : []),
]);

const SETTING: ArgumentSpec = {
  name: 'KEY',
  required: true,
  suggests: NAMES,
  help: "a setting's name: 'filings help config' shows them all",
};

export const CONFIG = command({
  name: 'config',
  summary: 'show and change settings',
  description: [
    "A flag wins over the environment, that over the profile, the config file, the default. 'filings help config' has the keys of the file.",
  ],
  examples: [
    ['filings config set base-url https://api.example.com', 'where the service is'],
    ['filings config set api-key', 'asks for the key without showing it'],
    ['filings config list', 'each setting with where it comes from'],
  ],
  settings: ['config', 'profile'],
  children: [
    command({
      name: 'list',
      summary: 'show every setting with where it comes from and its default, and the profiles',
      options: LIST_OPTIONS,
      examples: [
        ['filings config list', 'what counts here, and why'],
        ['filings config list --profile test', 'with a profile of the config file'],
        ['filings config list --json', 'for programs'],
      ],
      settings: ['profile'],
      load: () => import('./list.ts'),
    }),
    command({
      name: 'get',
      summary: 'show one setting, wherever it comes from',
      arguments: [SETTING],
      description: ['A secret is not shown.'],
      examples: [
        ['filings config get base-url', 'where the service is'],
        ['filings config get base-url --profile test', 'with a profile of the config file'],
        ['FILINGS_JOBS=8 filings config get jobs', 'whatever it comes from'],
      ],
      settings: ['profile'],
      exits: [
        ['0', 'it is set, or has a default'],
        ['2', 'there is no such setting, or the configuration is wrong'],
        ['5', 'it is not set'],
      ],
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
        },
      ],
      description: [
        "The file is made if it is missing, for you alone, and replaced at once. A path is kept as it counts from the file's folder.",
      ],
      examples: [
        ['filings config set base-url https://api.example.com', 'where the service is'],
        ['filings config set api-key', 'asks for the key without showing it'],
        ['filings config set base-url https://test.example.com --profile test', 'for --profile test alone'],
      ],
      settings: ['profile'],
      load: () => import('./set.ts'),
    }),
    command({
      name: 'unset',
      summary: 'take a setting out of the config file, or out of the profile that --profile names',
      arguments: [SETTING],
      examples: [
        ['filings config unset jobs', 'the default counts again'],
        ['filings config unset api-key', 'the key is in the file no more'],
        ['filings config unset base-url --profile test', "a profile's, that of the file counts again"],
      ],
      settings: ['profile'],
      load: () => import('./unset.ts'),
    }),
    command({
      name: 'path',
      summary: 'print where the config file is',
      examples: [
        ['filings config path', 'where it is, or would be'],
        ['ls -l "$(filings config path)"', 'who may read it'],
        ['FILINGS_CONFIG=other.json filings config path', 'where another would be'],
      ],
      settings: ['config'],
      load: () => import('./path.ts'),
    }),
    command({
      name: 'check',
      summary: 'ask the service once, and tell whether address, certificate, key, token and clock are right',
      options: CHECK_OPTIONS,
      arguments: [{ name: 'ACCESSION', help: 'the filing to ask for; one that does not exist unless told' }],
      examples: [
        ['filings config check', 'with one cheap request'],
        ['filings config check 0001234567-24-000001', 'with the listing of a filing that you know'],
        ['filings config check --verbose', 'and show the request and the answer'],
      ],
      asksService: true,
      settings: ['profile', 'baseUrl', 'apiKeyFile', 'sandbox'],
      exits: [
        ['0', 'all is right, whether there is such a filing or not'],
        ['2', 'the configuration is wrong'],
        ['4', 'the service does not take the key or the token'],
        ['7', 'it cannot be reached'],
        ['9', 'what answers there is not the service'],
      ],
      load: () => import('./check.ts'),
    }),
  ],
});
