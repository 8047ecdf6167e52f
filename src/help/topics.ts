import { expectedInFile, type NamedSetting, SETTINGS } from '../settings/table.ts';
import { paragraph, type Row, section, stacked } from './layout.ts';
import { EVERY_EXIT, helpLine, sharedRows } from './rows.ts';

// The texts of the topics of `filings help`, such as `environment` and `config`. The manual has the same texts.

/** Environment variables that are not settings of this program, but affect it. */
export const COMMON_VARIABLES: readonly Row[] = [
  ['NO_COLOR', 'no colours, unless FILINGS_COLOR is set'],
  ['FORCE_COLOR, CLICOLOR_FORCE', 'colours, unless FILINGS_COLOR or NO_COLOR is set'],
  ['HTTPS_PROXY, HTTP_PROXY', 'the proxy to use, also in lower case; never for loopback'],
  ['NO_PROXY', 'hosts to reach without the proxy'],
  ['NODE_EXTRA_CA_CERTS', 'a PEM file of additional certificate authorities'],
  ['XDG_CONFIG_HOME', 'the directory of configuration files [default: ~/.config]'],
  ['APPDATA', 'the same on Windows, where ~/ is USERPROFILE'],
  ['COLUMNS', 'the width of help and tables, if the terminal does not report it [default: 80]'],
];

const PRECEDENCE = 'Flags override the environment, which overrides the profile, the config file and the defaults.';

export const EXAMPLE_CONFIG = {
  baseUrl: 'https://api.example.com',
  apiKeyCommand: ['pass', 'filings'],
  jobs: 8,
  profiles: {
    test: { baseUrl: 'https://test.example.com', apiKeyFile: '~/.config/filings/test-key' },
  },
};

const BEFORE_OPTIONS =
  'They may be given before or after the command. Their keys in the config file: filings help config';

export const AFTER_EXITS =
  'A batch of several files ends with the first that applies: a signal (128+n), what stopped it (2, 4, 7 or 8), a file ' +
  'that failed permanently (3), a file that failed otherwise (7), a limit (10). A command for one file ends with the ' +
  'code of that file. --error-format json has the word as its member code.';

export function environmentRows(settings: readonly NamedSetting[] = SETTINGS): readonly Row[] {
  return settings.flatMap((spec): Row[] => {
    const { env, option } = spec;
    return env === undefined ? [] : [[env, `${helpLine(spec)}${option === undefined ? '' : ` (${option})`}`]];
  });
}

export const BEFORE_VARIABLES = `${PRECEDENCE} A variable set to the empty string counts as unset; a switch takes 1 or true, 0 or false.`;

export function configRows(): readonly Row[] {
  return SETTINGS.filter((spec) => spec.inFile).map((spec) => [spec.key, `${spec.help}: ${expectedInFile(spec.kind)}`]);
}

export const CONFIG_PARAGRAPHS: readonly string[] = [
  'The config file is JSON: $XDG_CONFIG_HOME/filings/config.json, else ~/.config/filings/config.json, or the one that --config or FILINGS_CONFIG names. On Windows it is %APPDATA%\\filings\\config.json.',
  `${PRECEDENCE} Relative paths in it start at its directory. Its member profiles holds named sets of overrides, of which --profile chooses one; null in a profile unsets what the file sets. Its member $schema is for editors.`,
  'Its keys and tokens are sent to the host of the baseUrl beside them and to no other. A file that holds one must be readable by you alone: chmod 600. On Windows, permissions are not checked.',
];

export const TOPICS: Readonly<Record<string, (columns: number) => string>> = {
  options: (columns) => stacked([paragraph(BEFORE_OPTIONS, columns), section('Options', sharedRows(), columns)]),
  'exit-codes': (columns) => stacked([section('Exit codes', EVERY_EXIT, columns), paragraph(AFTER_EXITS, columns)]),
  environment: (columns) =>
    stacked([
      paragraph(BEFORE_VARIABLES, columns),
      section('Environment', [...environmentRows(), ...COMMON_VARIABLES], columns),
    ]),
  config: (columns) =>
    stacked([
      ...CONFIG_PARAGRAPHS.map((text) => paragraph(text, columns)),
      section('Keys', configRows(), columns),
      `Example:\n${JSON.stringify(EXAMPLE_CONFIG, undefined, 2).replace(/^/gm, '  ')}\n`,
    ]),
};
