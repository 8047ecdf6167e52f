import { SETTINGS } from '../../settings/table.ts';
import { type ArgumentSpec, command } from '../../spec/command.ts';
import { SWITCH } from '../../spec/kind.ts';
import { flagOf, options } from '../../spec/option.ts';

export const LIST_OPTIONS = options({ json: { kind: SWITCH, help: 'print JSON Lines, one object a setting' } });
export const CHECK_OPTIONS = options({ json: { kind: SWITCH, help: 'print JSON Lines, one object a check' } });

/** The settings that the file may have, spelled as flags. */
const SETTING_NAMES = SETTINGS.filter((spec) => spec.inFile).map(({ key }) => flagOf(key));

const SETTING: ArgumentSpec = {
  name: 'KEY',
  required: true,
  suggests: SETTING_NAMES,
  help: "the name of a setting: see 'filings help config'",
};

export const CONFIG = command({
  name: 'config',
  summary: 'show and change settings',
  description: ["'filings help config' lists the keys, and says which value counts."],
  examples: [
    ['filings config set base-url https://api.example.com', 'where the service is'],
    ['filings config set api-key', 'asks for the key without showing it'],
  ],
  children: [
    command({
      name: 'list',
      summary: 'show every setting and where it comes from',
      options: LIST_OPTIONS,
      examples: [['filings config list --profile test', 'with a profile of the config file']],
      exits: ['7'],
      load: async () => ({ run: (await import('./show.ts')).showAll }),
    }),
    command({
      name: 'get',
      summary: 'show one setting',
      arguments: [SETTING],
      description: ['A secret is not shown. Exit status 5: it is not set.'],
      examples: [['filings config get base-url --profile test', 'the address that the profile test has']],
      exits: ['5', '7'],
      load: async () => ({ run: (await import('./show.ts')).showOne }),
    }),
    command({
      name: 'set',
      summary: 'set a setting in the config file, or in a profile of it (--profile)',
      arguments: [
        SETTING,
        {
          name: 'VALUE',
          completes: 'setting',
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
      exits: ['7'],
      load: async () => ({ run: (await import('./edit.ts')).set }),
    }),
    command({
      name: 'unset',
      summary: 'remove a setting from the config file, or from a profile of it (--profile)',
      arguments: [SETTING],
      examples: [['filings config unset base-url --profile test', 'back to the value of the file']],
      exits: ['7'],
      load: async () => ({ run: (await import('./edit.ts')).unset }),
    }),
    command({
      name: 'path',
      summary: 'print where the config file is',
      examples: [['ls -l "$(filings config path)"', 'who may read it']],
      exits: ['7'],
      load: async () => ({ run: (await import('./edit.ts')).path }),
    }),
    command({
      name: 'check',
      summary: 'check address, certificate, key, token and clock with one request',
      options: CHECK_OPTIONS,
      arguments: [{ name: 'ACCESSION', help: 'a filing that exists; without it a 404 proves nothing' }],
      description: [
        "Each is 'ok', 'wrong', 'unknown' or 'not used'. With ACCESSION it also reports whether the service has that filing.",
      ],
      examples: [
        ['filings config check 0001234567-24-000001', 'with the listing of a filing that you know'],
        ['filings config check --verbose', 'and show the request and the answer'],
      ],
      asksService: true,
      exits: ['4', '5', '6', '7', '9'],
      load: () => import('./check.ts'),
    }),
  ],
});
