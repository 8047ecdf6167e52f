import { EXIT_CODE_ROWS } from '../errors.ts';
import { wantedInFile } from '../settings/file/fault.ts';
import { flagOfSetting, type NamedSetting, SETTINGS } from '../settings/table.ts';
import { type Row, table, wrapped } from './columns.ts';
import { sayingOf } from './describe.ts';

/** Variables that are no setting of this program's, but change what it does. */
const COMMON_VARIABLES: readonly Row[] = [
  ['NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE', 'colours, where FILINGS_COLOR says nothing; the first that is set counts'],
  ['HTTPS_PROXY, HTTP_PROXY', 'the proxy to use, also in lower case; never for loopback'],
  ['NO_PROXY', 'hosts that are reached without the proxy'],
  ['NODE_EXTRA_CA_CERTS', 'a PEM file of further certificate authorities'],
  ['XDG_CONFIG_HOME', 'the folder of configuration files; ~/.config unless set'],
];

const PRECEDENCE = 'A flag wins over the environment, that over the profile, the config file, the default.';

export const EXAMPLE_CONFIG = {
  baseUrl: 'https://api.example.com',
  apiKeyCommand: ['pass', 'filings'],
  jobs: 8,
  profiles: {
    test: { baseUrl: 'https://test.example.com', apiKeyFile: '~/.config/filings/test-key' },
  },
};

/** `filings help exit-codes`. */
export function exitCodesText(columns: number): string {
  const rows = EXIT_CODE_ROWS.map(([status, codes, meaning]): Row => [`${status.padEnd(7)}${codes}`, meaning]);
  const after =
    'A batch of several files: what stopped it (2, 4 or 8) wins; else if every failure is temporary, 7; else 3. ' +
    "The codes are the member code of --error-format json. A command for one file exits with that file's own code.";
  return `Exit codes:\n${table(rows, columns)}\n${wrapped(after, columns).join('\n')}\n`;
}

/** The rows of `filings help environment`. */
export function environmentRows(): readonly Row[] {
  const own = SETTINGS.flatMap((spec): Row[] =>
    spec.env === undefined ? [] : [[spec.env, `${sayingOf(spec)}${flagNote(spec)}`]],
  );
  return [...own, ...COMMON_VARIABLES];
}

export function environmentText(columns: number): string {
  const before = `${PRECEDENCE} A variable set to the empty string counts as unset; a switch takes 1 or true, 0 or false.`;
  return `${wrapped(before, columns).join('\n')}\n\nEnvironment:\n${table(environmentRows(), columns)}`;
}

/** The rows of `filings help config`. */
export function configRows(): readonly Row[] {
  return SETTINGS.filter((spec) => spec.inFile).map((spec) => [spec.key, `${spec.help}: ${wantedInFile(spec)}`]);
}

/** What is said about the config file before its keys, a paragraph each. */
export const CONFIG_PARAGRAPHS: readonly string[] = [
  'The config file is JSON: $XDG_CONFIG_HOME/filings/config.json, else ~/.config/filings/config.json, or the one that --config or FILINGS_CONFIG names.',
  `${PRECEDENCE} Paths in it are relative to its folder. Its member profiles holds sets of overrides by name, of which --profile chooses one; its member $schema is for editors.`,
  'When it holds an API key, nobody else may be able to read or write it: chmod 600.',
];

export function configText(columns: number): string {
  const before = CONFIG_PARAGRAPHS.map((text) => `${wrapped(text, columns).join('\n')}\n`).join('\n');
  const example = JSON.stringify(EXAMPLE_CONFIG, undefined, 2).replace(/^/gm, '  ');
  return `${before}\nKeys:\n${table(configRows(), columns)}\nExample:\n${example}\n`;
}

function flagNote(spec: NamedSetting): string {
  const flag = flagOfSetting(spec);
  return flag === undefined ? '' : ` (${flag})`;
}
