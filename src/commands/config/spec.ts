import { SETTINGS } from '../../settings/table.ts';
import { type ArgumentSpec, command } from '../../spec/command.ts';
import { flagOf } from '../../spec/option.ts';

/** The settings that the file may have, spelled as flags, and their members: `listing.files`. */
const SETTING_NAMES = SETTINGS.filter(({ inFile }) => inFile).flatMap(({ name, kind }) => [
  flagOf(name),
  ...Object.keys(kind.members ?? {}).map((member) => `${flagOf(name)}.${member}`),
]);

const SETTING: ArgumentSpec = {
  name: 'KEY',
  required: true,
  suggests: SETTING_NAMES,
  help: "the name of a setting, or of a member, such as listing.files: see 'filings config list'",
};

export const CONFIG = command({
  name: 'config',
  summary: 'show and change settings',
  description: [
    "'filings config list' lists the keys. Flags override the environment, which overrides the profile, the config file and the defaults.",
  ],
  examples: [
    ['filings config set base-url https://api.example.com', 'where the service is'],
    ['filings config set api-key', 'asks for the key without showing it'],
  ],
  children: [
    command({
      name: 'list',
      summary: 'show every setting and where it comes from',
      load: async () => ({ run: (await import('./show.ts')).showAll }),
    }),
    command({
      name: 'get',
      summary: 'show one setting',
      arguments: [SETTING],
      description: ['A secret is not shown. Exit status 5: it is not set.'],
      examples: [['filings config get base-url --profile test', 'the address that the profile test has']],
      load: async () => ({ run: (await import('./show.ts')).showOne }),
    }),
    command({
      name: 'set',
      summary: 'set a setting in the config file, or in a profile of it (--profile)',
      arguments: [
        SETTING,
        {
          name: 'VALUE',
          completes: 'value',
          help: 'the value; for a secret omit it: it is asked for, or read from stdin',
        },
      ],
      description: [
        'The file is created with mode 0600 if it is missing, and replaced atomically. Relative paths are stored as absolute ones.',
      ],
      examples: [
        ['filings config set api-key', 'asks for the key without showing it'],
        ['filings config set base-url https://test.example.com --profile test', 'only for --profile test'],
      ],
      load: async () => ({ run: (await import('./edit.ts')).set }),
    }),
    command({
      name: 'unset',
      summary: 'remove a setting from the config file, or from a profile of it (--profile)',
      arguments: [SETTING],
      load: async () => ({ run: (await import('./edit.ts')).unset }),
    }),
    command({
      name: 'path',
      summary: 'print where the config file is',
      examples: [['ls -l "$(filings config path)"', 'who may read it']],
      load: async () => ({ run: (await import('./edit.ts')).path }),
    }),
    command({
      name: 'check',
      summary: 'list one filing, and print the address, the key and the clock that were used',
      arguments: [{ name: 'ACCESSION', help: 'a filing that exists' }],
      description: ['The errors are those of filings list.'],
      examples: [['filings config check 0001234567-24-000001 --verbose', 'and show the request and the answer']],
      asksService: true,
      load: () => import('./check.ts'),
    }),
  ],
});
