import type { TokenRecipe } from '../jwt/minter.ts';
import type { KeyWay } from '../service/credentials.ts';
import type { ListingDescription } from '../service/listing.ts';
import {
  choice,
  count,
  DURATION,
  FILE,
  type Kind,
  PROFILE,
  RATE,
  SWITCH,
  TEXT,
  TIMEOUT,
  WHOLE_SECONDS,
} from '../spec/kind.ts';
import { flagOf, type NamedOption, type OptionSpec, type ValueOf } from '../spec/option.ts';

/** A setting: an option that may also come from the environment, a profile or the config file. */
export interface SettingSpec<T = unknown> extends OptionSpec<T> {
  /** Where it can't be given; elsewhere it is `--base-url`, `FILINGS_BASE_URL`, `baseUrl`. */
  readonly noFlag?: true;
  readonly noEnv?: true;
  readonly noFile?: true;
  /** Its variable, where that has another name. */
  readonly env?: string;
  readonly secret?: true;
  /** They are sources of the same thing. */
  readonly group?: 'key' | 'token';
  /** Says which service, and with which credentials: with `--sandbox` it is not used. */
  readonly service?: true;
}

/**
 * Where the service is, with or without its version prefix (service.md, section 7) and final slashes. The URL has neither
 * prefix, and ends in one slash: `new URL('v1/download', baseUrl)` is an endpoint.
 */
export const BASE_URL: Kind<URL> = {
  parse(text) {
    // WHATWG parsing drops line breaks and takes backslashes for slashes: what would be asked is not what was written.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
    if (!/^https?:\/\/[^\s\\?#\u0000-\u001f\u007f]+$/i.test(text) || !URL.canParse(text)) return undefined;
    const url = new URL(text);
    if (url.username !== '' || url.password !== '') return undefined;
    url.pathname = `${url.pathname.replace(/\/+(?:v1\/*)?$/, '')}/`;
    return url;
  },
  expected: 'an http or https URL without user, query and fragment, such as https://api.example.com',
  hidden: true,
};

/** RFC 9110 section 5.1. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Those the request needs for itself. */
const TAKEN_HEADERS =
  /^(accept-encoding|authorization|connection|content-length|cookie|expect|host|if-range|keep-alive|range|te|trailer|transfer-encoding|upgrade|user-agent|proxy-.*)$/i;

export const KEY_WAYS = ['authorization', 'header', 'query', 'path', 'basic'] as const satisfies readonly KeyWay[];

/** Of the config file's `jwt`. */
export const RECIPE_MEMBERS = {
  keyFile: FILE,
  secretFile: FILE,
  alg: TEXT,
  kid: TEXT,
  sub: TEXT,
  name: TEXT,
  lifetime: WHOLE_SECONDS,
} as const satisfies Readonly<Record<keyof TokenRecipe, Kind<unknown>>>;

const WORDS: Kind<readonly string[]> = {
  parse: () => undefined,
  expected: 'an array of a program and its arguments, such as ["pass", "filings"]',
  json: 'words',
};

/** The members of the config file's `listing`. */
export const LISTING_MEMBERS = {
  files: TEXT,
  name: TEXT,
  total: TEXT,
  more: TEXT,
  pageSize: TEXT,
  pageNumber: TEXT,
  firstPage: count(0, 1, 0),
} as const satisfies Readonly<Record<keyof ListingDescription, Kind<unknown>>>;

/** A value of the config file that is an object. It has no form on the command line. */
function object<T>(members: Readonly<Record<keyof T, Kind<unknown>>>): Kind<T> {
  return {
    parse: () => undefined,
    expected: `an object of ${Object.keys(members).join(', ')}`,
    json: 'object',
    members,
  };
}

const FREE_HEADER: Kind<string> = {
  parse: (text) => (HEADER_NAME.test(text) && !TAKEN_HEADERS.test(text) ? text : undefined),
  expected: 'the name of a header that may carry a key, such as X-Service-Key',
};

/** RFC 7617 section 2: no colon in it. */
const USER_NAME: Kind<string> = {
  parse: (text) => (/^[ -9;-~]+$/.test(text) ? text : undefined),
  expected: 'a user name of plain letters without a colon, such as service',
};

/** Every setting, once, in the order in which help shows them. */
export const TABLE = {
  config: {
    noFile: true,
    kind: FILE,
    value: 'FILE',
    defaultText: '~/.config/filings/config.json',
    help: 'use this config file',
  },
  profile: { kind: PROFILE, value: 'NAME', help: 'use this profile of the config file' },
  baseUrl: {
    kind: BASE_URL,
    value: 'URL',
    service: true,
    help: 'use the service at this URL, with or without its /v1',
  },
  apiKey: {
    kind: TEXT,
    value: 'KEY',
    service: true,
    secret: true,
    group: 'key',
    help: 'send this key (visible to other users: use --api-key-file)',
  },
  apiKeyFile: {
    kind: FILE,
    value: 'FILE',
    service: true,
    group: 'key',
    help: 'read the API key from FILE; - is stdin',
  },
  apiKeyCommand: {
    noEnv: true,
    kind: WORDS,
    noFlag: true,
    service: true,
    group: 'key',
    help: 'run this program, without a shell: its first line is the API key',
  },
  keyIn: {
    kind: choice(...KEY_WAYS),
    value: 'WAY',
    service: true,
    defaultText: 'authorization; header when a JWT is sent',
    help: 'send the key this way',
  },
  keyHeader: {
    kind: FREE_HEADER,
    value: 'NAME',
    service: true,
    default: 'X-Service-Key',
    help: 'send the key in this header (with --key-in header)',
  },
  basicUser: {
    kind: USER_NAME,
    value: 'NAME',
    service: true,
    default: 'service',
    help: 'send this user name (with --key-in basic)',
  },
  jwtFile: { kind: FILE, value: 'FILE', service: true, group: 'token', help: 'send the JWT in FILE; - is stdin' },
  jwtToken: {
    noFile: true,
    kind: TEXT,
    noFlag: true,
    env: 'FILINGS_JWT',
    service: true,
    secret: true,
    group: 'token',
    help: 'send this JWT',
  },
  jwt: {
    noEnv: true,
    kind: object<Partial<Record<keyof TokenRecipe, string>>>(RECIPE_MEMBERS),
    noFlag: true,
    service: true,
    group: 'token',
    help: 'mint JWTs with this key, a new one before the old one expires',
  },
  sandbox: {
    noFile: true,
    kind: SWITCH,
    default: 'false',
    help: 'use a built-in service with sample filings, no account',
  },
  allowHttp: {
    kind: SWITCH,
    service: true,
    default: 'false',
    help: 'allow plain http to other machines (the key is readable)',
  },
  connectTimeout: { kind: TIMEOUT, value: 'DURATION', default: '10s', help: 'give up connecting after this time' },
  idleTimeout: {
    kind: TIMEOUT,
    value: 'DURATION',
    default: '60s',
    help: 'give up when under 1,000 bytes arrive in this time',
  },
  deadline: { kind: TIMEOUT, value: 'DURATION', help: 'stop the whole command after this time' },
  retries: {
    kind: count(0, 1_000_000, 5),
    value: 'N',
    default: '5',
    help: 'retry a failed request up to N times',
    longHelp: 'The count is reset after 1 MiB of progress.',
  },
  maxRetryAfter: {
    kind: DURATION,
    value: 'DURATION',
    default: '5m',
    help: 'stop the run when the service asks for a longer wait',
  },
  jobs: { kind: count(1, 256, 4), short: 'j', value: 'N', default: '4', help: 'download N files at the same time' },
  rate: { kind: RATE, value: 'N/s|N/m', help: 'limit requests a second or a minute, over all jobs' },
  pageSize: { kind: count(1, 100_000, 100), value: 'N', help: 'read listings page by page, N records each' },
  listing: {
    noEnv: true,
    kind: object<ListingDescription>(LISTING_MEMBERS),
    noFlag: true,
    service: true,
    help: "describe the service's listing by JMESPath expressions",
  },
  color: {
    kind: choice('auto', 'always', 'never'),
    value: 'WHEN',
    default: 'auto',
    help: 'color the output; auto: where it is a terminal',
  },
  progress: {
    kind: choice('auto', 'bar', 'plain', 'none'),
    value: 'HOW',
    default: 'auto',
    help: 'show progress; auto: a bar on a terminal, else lines',
  },
  errorFormat: {
    kind: choice('text', 'json'),
    value: 'FORMAT',
    default: 'text',
    help: 'write errors to stderr in this format',
  },
  quiet: { noEnv: true, noFile: true, kind: SWITCH, short: 'q', default: 'false', help: 'print errors only' },
  verbose: {
    noFile: true,
    noEnv: true,
    kind: SWITCH,
    short: 'v',
    default: 'false',
    help: 'print requests, answers and waits, secrets redacted',
  },
} as const satisfies Readonly<Record<string, SettingSpec>>;

export type SettingKey = keyof typeof TABLE;

export type SettingValues = { readonly [Key in SettingKey]: ValueOf<(typeof TABLE)[Key]> };

export interface NamedSetting extends Omit<SettingSpec, 'env'> {
  readonly key: SettingKey;
  readonly option: string | undefined;
  readonly env: string | undefined;
  readonly inFile: boolean;
}

export const SETTINGS: readonly NamedSetting[] = Object.entries<SettingSpec>(TABLE).map(([key, spec]) => ({
  ...spec,
  key: key as SettingKey,
  option: spec.noFlag ? undefined : `--${flagOf(key)}`,
  env: spec.noEnv ? undefined : (spec.env ?? `FILINGS_${flagOf(key).toUpperCase().replaceAll('-', '_')}`),
  inFile: !spec.noFile,
}));

/** The options that every command has. */
export const SHARED_OPTIONS: readonly (NamedSetting & NamedOption)[] = SETTINGS.flatMap((spec) =>
  spec.noFlag ? [] : [{ ...spec, name: spec.key, flag: flagOf(spec.key) }],
);

export function expectedInFile(kind: Kind<unknown>): string {
  if (kind.completes === 'file') return 'a path in quotes';
  return kind.json === 'boolean' ? 'true or false' : kind.expected;
}
