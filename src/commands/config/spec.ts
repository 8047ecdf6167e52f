// One module runs several subcommands, so `load` picks the function.
import { SETTINGS } from '../../settings/table.ts';
import { type ArgumentSpec, defineCommand } from '../../spec/command.ts';
import { toKebabCase } from '../../spec/option.ts';

/** The completions offer settings spelled like flags, and their members as in the file (`jwt.keyFile`). */
const SETTING_NAMES = SETTINGS.filter(({ inFile }) => inFile).flatMap(({ name, kind }) => [
  toKebabCase(name),
  ...Object.keys(kind.members ?? {}).map((member) => `${toKebabCase(name)}.${member}`),
]);

/** The name of a setting, and not an API key. */
const KEY_ARGUMENT: ArgumentSpec = {
  name: 'KEY',
  required: true,
  examples: SETTING_NAMES,
  help: 'a setting, or a member of one, such as listing.files',
};

export const CONFIG = defineCommand({
  name: 'config',
  summary: 'show and change settings',
  description: [
    "'filings config list' lists the settings. A flag overrides the environment, which overrides the profile, then the rest of the config file, then the default.",
  ],
  examples: [
    ['filings config set base-url https://api.example.com', 'set the address of the service'],
    ['filings config set api-key', 'set the API key, which is not shown while you type'],
  ],
  children: [
    defineCommand({
      name: 'list',
      summary: 'show every setting and where it comes from',
      load: async () => ({ run: (await import('./show.ts')).showAll }),
    }),
    defineCommand({
      name: 'get',
      summary: 'show one setting',
      arguments: [KEY_ARGUMENT],
      description: ['A secret is shown as [redacted]. The exit status is 5 if the setting is not set.'],
      examples: [['filings config get base-url --profile test', 'show the base URL of the profile test']],
      load: async () => ({ run: (await import('./show.ts')).showOne }),
    }),
    defineCommand({
      name: 'set',
      summary: 'change a setting in the config file, or in one of its profiles (--profile)',
      arguments: [
        KEY_ARGUMENT,
        {
          name: 'VALUE',
          completes: 'setting value',
          help: 'the value; if it is omitted, api-key is read from a prompt or stdin',
        },
      ],
      description: [
        'Creates the config file with mode 0600 if it does not exist. Otherwise replaces it atomically. Stores relative paths as absolute paths.',
      ],
      examples: [
        ['filings config set api-key', 'set the API key, which is not shown while you type'],
        ['filings config set base-url https://test.example.com --profile test', 'set it only for --profile test'],
      ],
      load: async () => ({ run: (await import('./edit.ts')).set }),
    }),
    defineCommand({
      name: 'unset',
      summary: 'remove a setting from the config file, or from one of its profiles (--profile)',
      arguments: [KEY_ARGUMENT],
      load: async () => ({ run: (await import('./edit.ts')).unset }),
    }),
    defineCommand({
      name: 'path',
      summary: 'print the path of the config file',
      examples: [['ls -l "$(filings config path)"', 'see who can read it']],
      load: async () => ({ run: (await import('./edit.ts')).printPath }),
    }),
    defineCommand({
      name: 'check',
      summary: 'list one filing to test the settings, and show the address, credentials and clock',
      arguments: [{ name: 'ACCESSION', help: 'the accession number of a filing that exists' }],
      description: ['Errors and exit statuses are those of filings list, but it retries only with --retries.'],
      examples: [['filings config check 0001234567-24-000001 --verbose', 'also show the request and the response']],
      sendsRequests: true,
      load: () => import('./check.ts'),
    }),
  ],
});
