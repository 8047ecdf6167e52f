// All settings in one table. Flags, environment variables, the members of the config file, its schema, the help and the
// completions are made from it.
import type { TokenRecipe } from '../jwt/sign.ts';
import type { KeyWay } from '../service/credentials.ts';
import type { ListingDescription } from '../service/described-listing.ts';
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
interface SettingSpec<T = unknown> extends OptionSpec<T> {
  /** The sources that can have it. Default: all. Its name in them is `--base-url`, `FILINGS_BASE_URL`, `baseUrl`. */
  readonly from?: readonly ('flag' | 'env' | 'file')[];
  /** The name of its variable, if it does not follow the rule. */
  readonly env?: string;
  readonly secret?: true;
  /** Settings of one group are alternative sources of one credential. */
  readonly group?: 'key' | 'token';
  /** Describes the service. `--sandbox` ignores such settings, and those of a group. */
  readonly service?: true;
}

/**
 * The URL of the service. The text may have the version prefix (service.md, section 7) and final slashes. The parsed
 * URL has no prefix and ends with one slash, so that `new URL('v1/download', baseUrl)` is an endpoint.
 */
export const BASE_URL: Kind<URL> = {
  parse(text) {
    // The WHATWG parser drops line breaks and turns backslashes into slashes, so it could accept another URL than the
    // text.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are rejected here
    if (!/^https?:\/\/[^\s\\?#\u0000-\u001f\u007f]+$/i.test(text) || !URL.canParse(text)) return undefined;
    const url = new URL(text);
    if (url.username !== '' || url.password !== '') return undefined;
    url.pathname = `${url.pathname.replace(/\/+(?:v1\/*)?$/, '')}/`;
    return url;
  },
  expected: 'an http or https URL without user, query and fragment, such as https://api.example.com',
  hidden: true,
};

/** A field name (RFC 9110, section 5.1). */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Headers that the request sets itself, or that would change how the message is framed. */
const RESERVED_HEADERS =
  /^(accept-encoding|authorization|connection|content-length|cookie|expect|host|if-range|keep-alive|range|te|trailer|transfer-encoding|upgrade|user-agent|proxy-.*)$/i;

/** The ways to send the key (service.md, section 5). */
export const KEY_WAYS = ['authorization', 'header', 'query', 'path', 'basic'] as const satisfies readonly KeyWay[];

/** A token is replaced at half of its lifetime, and a request takes time to arrive. */
const MINTED_LIFETIME: Kind<number> = {
  ...WHOLE_SECONDS,
  parse(text) {
    const seconds = WHOLE_SECONDS.parse(text) ?? 0;
    return seconds < 10 ? undefined : seconds;
  },
  expected: 'a duration of whole seconds from 10s on, such as 90s, 5m or 1h',
};

/** The members of the config file's `jwt`. */
export const RECIPE_MEMBERS = {
  keyFile: FILE,
  secretFile: FILE,
  alg: TEXT,
  kid: TEXT,
  sub: TEXT,
  name: TEXT,
  lifetime: MINTED_LIFETIME,
} as const satisfies Readonly<Record<keyof TokenRecipe, Kind<unknown>>>;

const WORDS: Kind<readonly string[]> = {
  parse: () => undefined,
  expected: 'an array of a program and its arguments, such as ["pass", "filings"]',
  json: 'words',
};

const PARAMETERS: Kind<Readonly<Record<string, string>>> = {
  parse: () => undefined,
  expected: 'an object of strings, such as {"page_size": "100"}',
  json: 'texts',
};

/** The members of the config file's `listing`. */
const LISTING_MEMBERS = {
  files: TEXT,
  name: TEXT,
  total: TEXT,
  more: TEXT,
  query: PARAMETERS,
  page: TEXT,
  firstPage: count(0, 1_000_000, 1),
  offset: TEXT,
  next: TEXT,
  cursor: TEXT,
} as const satisfies Readonly<Record<keyof ListingDescription, Kind<unknown>>>;

/** Returns the kind of a value that is an object in the config file. It has no form on the command line. */
function objectOf<T>(members: Readonly<Record<keyof T, Kind<unknown>>>): Kind<T> {
  return {
    parse: () => undefined,
    expected: `an object of ${Object.keys(members).join(', ')}`,
    json: 'object',
    members,
  };
}

const KEY_HEADER: Kind<string> = {
  parse: (text) => (HEADER_NAME.test(text) && !RESERVED_HEADERS.test(text) ? text : undefined),
  expected: 'the name of a header that may carry a key, such as X-Service-Key',
};

/** A user name of basic authentication, which has no colon (RFC 7617, section 2). */
const USER_NAME: Kind<string> = {
  parse: (text) => (/^[ -9;-~]+$/.test(text) ? text : undefined),
  expected: 'a user name of plain letters without a colon, such as service',
};

/** All settings in the order of the help. */
export const TABLE = {
  config: {
    heading: 'Configuration',
    from: ['flag', 'env'],
    kind: FILE,
    value: 'FILE',
    defaultText: '~/.config/filings/config.json',
    help: 'use this config file',
  },
  profile: { kind: PROFILE, value: 'NAME', help: 'use this profile of the config file' },
  baseUrl: {
    heading: 'Service and credentials',
    kind: BASE_URL,
    value: 'URL',
    service: true,
    help: 'use the service at this URL, with or without its /v1',
  },
  apiKey: {
    kind: TEXT,
    value: 'KEY',
    secret: true,
    group: 'key',
    help: 'send this key (visible to other users: use --api-key-file)',
  },
  apiKeyFile: { kind: FILE, value: 'FILE', group: 'key', help: 'read the API key from FILE; - is stdin' },
  apiKeyCommand: {
    from: ['file'],
    kind: WORDS,
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
    kind: KEY_HEADER,
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
  jwtFile: { kind: FILE, value: 'FILE', group: 'token', help: 'send the JWT in FILE; - is stdin' },
  jwtToken: { from: ['env'], kind: TEXT, env: 'FILINGS_JWT', secret: true, group: 'token', help: 'send this JWT' },
  jwt: {
    from: ['file'],
    kind: objectOf<Partial<Record<keyof TokenRecipe, string>>>(RECIPE_MEMBERS),
    group: 'token',
    help: 'mint JWTs with this key, a new one before the old one expires',
  },
  sandbox: {
    from: ['flag', 'env'],
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
  connectTimeout: {
    heading: 'Requests',
    kind: TIMEOUT,
    value: 'DURATION',
    default: '10s',
    help: 'give up connecting after this time',
  },
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
  listing: {
    from: ['file'],
    kind: objectOf<ListingDescription>(LISTING_MEMBERS),
    service: true,
    help: "describe the service's listing by JMESPath expressions",
  },
  color: {
    heading: 'Output',
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
  quiet: { from: ['flag'], kind: SWITCH, short: 'q', default: 'false', help: 'print errors only' },
  verbose: {
    from: ['flag'],
    kind: SWITCH,
    short: 'v',
    default: 'false',
    help: 'print requests, responses and waits, with secrets redacted',
  },
} as const satisfies Readonly<Record<string, SettingSpec>>;

/** The name of a setting in the config file. */
export type SettingKey = keyof typeof TABLE;

/** The parsed values by key. */
export type SettingValues = { readonly [Key in SettingKey]: ValueOf<(typeof TABLE)[Key]> };

/** A setting with its names in each source. */
export interface NamedSetting extends Omit<SettingSpec, 'env'> {
  readonly key: SettingKey;
  readonly option: string | undefined;
  readonly env: string | undefined;
  readonly inFile: boolean;
}

function isFrom({ from }: SettingSpec, source: 'flag' | 'env' | 'file'): boolean {
  return from === undefined || from.includes(source);
}

/** The settings of the table as a list, with their names. */
export const SETTINGS: readonly NamedSetting[] = Object.entries<SettingSpec>(TABLE).map(([key, spec]) => ({
  ...spec,
  key: key as SettingKey,
  option: isFrom(spec, 'flag') ? `--${flagOf(key)}` : undefined,
  env: isFrom(spec, 'env') ? (spec.env ?? `FILINGS_${flagOf(key).toUpperCase().replaceAll('-', '_')}`) : undefined,
  inFile: isFrom(spec, 'file'),
}));

/** The options that every command has. */
export const SHARED_OPTIONS: readonly (NamedSetting & NamedOption)[] = SETTINGS.flatMap((spec) =>
  spec.option === undefined ? [] : [{ ...spec, name: spec.key, flag: flagOf(spec.key) }],
);

/** Returns the description of a valid value in the config file, which follows "must be". */
export function expectedInFile(kind: Kind<unknown>): string {
  if (kind.completes === 'file') return 'a path in quotes';
  return kind.json === 'boolean' ? 'true or false' : kind.expected;
}
