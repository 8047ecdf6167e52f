import type { TokenRecipe } from '../jwt/minter.ts';
import type { KeyWay } from '../service/credentials.ts';

/** An option as data: parsing, `--help`, man page and completions are made from it. */
export interface OptionSpec {
  /** The long flag without its dashes: `base-url`. Its value arrives under the camel-cased name: `baseUrl`. */
  readonly flag: string;
  /** One character. */
  readonly short?: string;
  /** The placeholder of its value; a switch has none. */
  readonly value?: string;
  readonly choices?: readonly string[];
  /** May be given several times: the values arrive as an array. */
  readonly repeatable?: boolean;
  readonly help: string;
  readonly completes?: 'file' | 'directory';
}

export type SettingKind =
  | 'text'
  | 'path'
  | 'url'
  | 'choice'
  | 'switch'
  | 'duration'
  | 'timeout'
  | 'count'
  | 'rate'
  | 'argv'
  | 'jwt-recipe';

/** A setting: an option that may also come from the environment, a profile or the config file. */
export interface SettingSpec {
  /** Its name in the resolved record, and in the config file when `inFile`. */
  readonly key: string;
  readonly kind: SettingKind;
  readonly option?: OptionSpec;
  readonly env?: string;
  readonly inFile?: boolean;
  /** The least and the most that a count may be. */
  readonly range?: readonly [least: number, most: number];
  /** As it would be written on the command line. */
  readonly default?: string;
  /** Never shown. */
  readonly secret?: boolean;
  /** Settings of one group are sources of the same thing: two at one level are an error, a higher level replaces a lower. */
  readonly group?: 'key' | 'jwt';
  /** Says which service, and with which credentials: with `--sandbox` it is not used. */
  readonly service?: boolean;
  /** Said by help where there is no flag. */
  readonly help?: string;
}

export const KEY_WAYS = ['authorization', 'header', 'query', 'path', 'basic'] as const satisfies readonly KeyWay[];

/** The members of the config file's `jwt`, and what each is. */
export const RECIPE_MEMBERS: Readonly<Record<keyof TokenRecipe, SettingKind>> = {
  keyFile: 'path',
  secretFile: 'path',
  alg: 'text',
  kid: 'text',
  sub: 'text',
  name: 'text',
  lifetime: 'timeout',
};

/** Every setting of the interface page, once, in the order in which help shows them. */
export const SETTINGS: readonly SettingSpec[] = [
  {
    key: 'config',
    kind: 'path',
    env: 'FILINGS_CONFIG',
    option: {
      flag: 'config',
      value: 'FILE',
      completes: 'file',
      help: 'the config file; $XDG_CONFIG_HOME/filings/config.json or ~/.config/filings/config.json unless told',
    },
  },
  {
    key: 'profile',
    kind: 'text',
    env: 'FILINGS_PROFILE',
    inFile: true,
    option: { flag: 'profile', value: 'NAME', help: "the config file's profile to use" },
  },
  {
    key: 'baseUrl',
    kind: 'url',
    service: true,
    env: 'FILINGS_BASE_URL',
    inFile: true,
    option: { flag: 'base-url', value: 'URL', help: 'where the service is, with or without its /v1' },
  },
  {
    key: 'apiKey',
    kind: 'text',
    service: true,
    env: 'FILINGS_API_KEY',
    inFile: true,
    secret: true,
    group: 'key',
    option: {
      flag: 'api-key',
      value: 'KEY',
      help: 'the API key; on a command line other users can see it',
    },
  },
  {
    key: 'apiKeyFile',
    kind: 'path',
    service: true,
    env: 'FILINGS_API_KEY_FILE',
    inFile: true,
    group: 'key',
    option: {
      flag: 'api-key-file',
      value: 'FILE',
      completes: 'file',
      help: 'a file that holds the API key; - is stdin',
    },
  },
  {
    key: 'apiKeyCommand',
    kind: 'argv',
    service: true,
    inFile: true,
    group: 'key',
    help: 'a program and its arguments, run without a shell; the first line of its stdout is the API key',
  },
  {
    key: 'keyIn',
    kind: 'choice',
    service: true,
    env: 'FILINGS_KEY_IN',
    inFile: true,
    option: {
      flag: 'key-in',
      value: 'WAY',
      choices: KEY_WAYS,
      help: 'how the key is sent; authorization, or header when a JWT is sent too, unless told otherwise',
    },
  },
  {
    key: 'keyHeader',
    kind: 'text',
    service: true,
    env: 'FILINGS_KEY_HEADER',
    inFile: true,
    default: 'X-Service-Key',
    option: { flag: 'key-header', value: 'NAME', help: 'the header for --key-in header' },
  },
  {
    key: 'basicUser',
    kind: 'text',
    service: true,
    env: 'FILINGS_BASIC_USER',
    inFile: true,
    default: 'service',
    option: { flag: 'basic-user', value: 'NAME', help: 'the user name for --key-in basic' },
  },
  {
    key: 'jwtFile',
    kind: 'path',
    service: true,
    env: 'FILINGS_JWT_FILE',
    inFile: true,
    group: 'jwt',
    option: { flag: 'jwt-file', value: 'FILE', completes: 'file', help: 'a file that holds a JWT to send; - is stdin' },
  },
  {
    key: 'jwtToken',
    kind: 'text',
    service: true,
    env: 'FILINGS_JWT',
    secret: true,
    group: 'jwt',
    help: 'a JWT to send',
  },
  {
    key: 'jwt',
    kind: 'jwt-recipe',
    service: true,
    inFile: true,
    group: 'jwt',
    help: 'how to mint JWTs: keyFile or secretFile, and alg, kid, sub, name, lifetime; a fresh one is minted before the old one runs out',
  },
  {
    key: 'sandbox',
    kind: 'switch',
    env: 'FILINGS_SANDBOX',
    default: 'false',
    option: { flag: 'sandbox', help: 'run against a stand-in service inside the process, with sample filings' },
  },
  {
    key: 'allowHttp',
    kind: 'switch',
    service: true,
    env: 'FILINGS_ALLOW_HTTP',
    inFile: true,
    default: 'false',
    option: { flag: 'allow-http', help: 'allow plain http to other machines: the key travels readable' },
  },
  {
    key: 'connectTimeout',
    kind: 'timeout',
    env: 'FILINGS_CONNECT_TIMEOUT',
    inFile: true,
    default: '10s',
    option: { flag: 'connect-timeout', value: 'DURATION', help: 'how long connecting may take, over all addresses' },
  },
  {
    key: 'idleTimeout',
    kind: 'timeout',
    env: 'FILINGS_IDLE_TIMEOUT',
    inFile: true,
    default: '60s',
    option: {
      flag: 'idle-timeout',
      value: 'DURATION',
      help: 'fewer than 1,000 new bytes in that time are given up on',
    },
  },
  {
    key: 'deadline',
    kind: 'timeout',
    env: 'FILINGS_DEADLINE',
    inFile: true,
    option: { flag: 'deadline', value: 'DURATION', help: 'bounds the whole command' },
  },
  {
    key: 'retries',
    kind: 'count',
    range: [0, 1_000_000],
    env: 'FILINGS_RETRIES',
    inFile: true,
    default: '5',
    option: { flag: 'retries', value: 'N', help: 'tries after the first; counted anew when a try has brought 1 MiB' },
  },
  {
    key: 'maxRetryAfter',
    kind: 'duration',
    env: 'FILINGS_MAX_RETRY_AFTER',
    inFile: true,
    default: '5m',
    option: {
      flag: 'max-retry-after',
      value: 'DURATION',
      help: 'a longer wait asked for by the service ends the run instead',
    },
  },
  {
    key: 'jobs',
    kind: 'count',
    range: [1, 256],
    env: 'FILINGS_JOBS',
    inFile: true,
    default: '4',
    option: { flag: 'jobs', short: 'j', value: 'N', help: 'files transferred at the same time' },
  },
  {
    key: 'rate',
    kind: 'rate',
    env: 'FILINGS_RATE',
    inFile: true,
    option: { flag: 'rate', value: 'N/s|N/m', help: 'requests a second or a minute, over all jobs' },
  },
  {
    key: 'color',
    kind: 'choice',
    env: 'FILINGS_COLOR',
    inFile: true,
    default: 'auto',
    option: {
      flag: 'color',
      value: 'WHEN',
      choices: ['auto', 'always', 'never'],
      help: 'colours; auto decides per stream',
    },
  },
  {
    key: 'progress',
    kind: 'choice',
    env: 'FILINGS_PROGRESS',
    inFile: true,
    default: 'auto',
    option: {
      flag: 'progress',
      value: 'HOW',
      choices: ['auto', 'bar', 'plain', 'none'],
      help: 'auto: a bar on a terminal, otherwise a line per finished file',
    },
  },
  {
    key: 'errorFormat',
    kind: 'choice',
    env: 'FILINGS_ERROR_FORMAT',
    inFile: true,
    default: 'text',
    option: {
      flag: 'error-format',
      value: 'FORMAT',
      choices: ['text', 'json'],
      help: 'how errors are written to stderr',
    },
  },
  {
    key: 'quiet',
    kind: 'switch',
    default: 'false',
    option: { flag: 'quiet', short: 'q', help: 'only errors' },
  },
  {
    key: 'verbose',
    kind: 'switch',
    default: 'false',
    option: { flag: 'verbose', short: 'v', help: 'requests, answers and waits, with every secret redacted' },
  },
];
