// All settings in one table, from which everything else about them is made: flags, environment variables, the config
// file and its schema, the help, the manual and the completions.
import { ALGORITHM } from '../jwt/algorithms.ts';
import type { TokenRecipe } from '../jwt/sign.ts';
import { KEY_PLACEMENTS } from '../service/credentials.ts';
import type { ListingDescription } from '../service/described-listing.ts';
import {
  choice,
  DURATION,
  FILE,
  integer,
  type Kind,
  PROFILE,
  RATE,
  SWITCH,
  TEXT,
  TIMEOUT,
  wholeSeconds,
} from '../spec/kind.ts';
import { findUrl } from '../spec/nearest.ts';
import { type NamedOption, type OptionSpec, toKebabCase, type ValueOf } from '../spec/option.ts';

/** What messages say about each credential. */
export const CREDENTIALS = {
  key: { label: 'API key', alternatives: '--api-key-file FILE or FILINGS_API_KEY' },
  token: { label: 'JWT', alternatives: '--jwt-file FILE or FILINGS_JWT' },
} as const;

interface SettingSpec<T = unknown> extends OptionSpec<T> {
  /** Where it can be set. Default: everywhere, as `--base-url`, `FILINGS_BASE_URL` and `baseUrl`, for example. */
  readonly from?: readonly ('flag' | 'env' | 'file')[];
  /** The default is made from the name of the setting. */
  readonly env?: string;
  /** The value is never shown. */
  readonly secret?: true;
  /** What comes from this setting. The settings with the same credential are alternatives. */
  readonly credential?: keyof typeof CREDENTIALS;
  /** `--sandbox` ignores this setting, as it does all credentials. */
  readonly ignoredBySandbox?: true;
}

/**
 * Users may end it with `/v1` (docs/service.md, section 7), slashes, or both. The parsed URL ends with exactly one
 * slash and never with `/v1`, so that `new URL('v1/download', baseUrl)` is an endpoint.
 */
export const BASE_URL: Kind<URL> = {
  parse(text) {
    // The URL parser ignores line breaks and turns backslashes into slashes, so the host might not be the one that the
    // user sees (https://url.spec.whatwg.org/#concept-basic-url-parser).
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are rejected here
    if (!/^https?:\/\/[^\s\\?#\u0000-\u001f\u007f]+$/i.test(text) || !URL.canParse(text)) return undefined;
    const url = new URL(text);
    if (url.username !== '' || url.password !== '') return undefined;
    url.pathname = `${url.pathname.replace(/\/+(?:v1\/*)?$/, '')}/`;
    return url;
  },
  expected: 'an http or https URL without a user, query or fragment, such as https://api.example.com',
  repair: findUrl,
  mayHoldPassword: true,
};

/** RFC 9110, section 5.1. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** These headers cannot carry a key, because they have a meaning for this program or for HTTP itself. */
const RESERVED_HEADERS =
  /^(accept-encoding|authorization|connection|content-length|cookie|expect|host|if-range|keep-alive|range|te|trailer|transfer-encoding|upgrade|user-agent|proxy-.*)$/i;

/**
 * A token with a lifetime under two minutes is replaced at half of it (`RENEWAL_MARGIN` in jwt/sign.ts). So with 10 s,
 * a request has 5 s to arrive before its token expires.
 */
const RECIPE_LIFETIME = wholeSeconds(10);

type RecipeMember = Exclude<keyof TokenRecipe, 'key'> | 'keyFile' | 'secretFile';
export const RECIPE_MEMBERS = {
  keyFile: FILE,
  secretFile: FILE,
  alg: ALGORITHM,
  kid: TEXT,
  sub: TEXT,
  name: TEXT,
  lifetime: RECIPE_LIFETIME,
} as const satisfies Readonly<Record<RecipeMember, Kind<unknown>>>;

// These kinds reject every string, because only the config file can have arrays and objects. Its schema checks them.
function createJsonKind<T>(json: Kind<T>['json'] & string, expected: string): Kind<T> {
  return { parse: () => undefined, expected, json };
}
const ARGV = createJsonKind<readonly string[]>(
  'string array',
  'an array of a program and its arguments, such as ["pass", "filings"]',
);
const PARAMETERS = createJsonKind<Readonly<Record<string, string>>>(
  'string map',
  'an object of strings, such as {"page_size": "100"}',
);

const LISTING_MEMBERS = {
  files: TEXT,
  name: TEXT,
  total: TEXT,
  more: TEXT,
  query: PARAMETERS,
  page: TEXT,
  firstPage: integer({ min: 0, max: 1_000_000, example: 1 }),
  offset: TEXT,
  next: TEXT,
  cursor: TEXT,
} as const satisfies Readonly<Record<keyof ListingDescription, Kind<unknown>>>;

function createObjectKind<T>(members: Readonly<Record<keyof T, Kind<unknown>>>): Kind<T> {
  return { ...createJsonKind<T>('object', `an object of ${Object.keys(members).join(', ')}`), members };
}

const KEY_HEADER: Kind<string> = {
  parse: (text) => (HEADER_NAME.test(text) && !RESERVED_HEADERS.test(text) ? text : undefined),
  expected: 'the name of a header that may carry a key, such as X-Service-Key',
};

/** RFC 7617, section 2, allows no colon, which in ASCII is between `9` and `;`. */
const USER_NAME: Kind<string> = {
  parse: (text) => (/^[ -9;-~]+$/.test(text) ? text : undefined),
  expected: 'a user name in ASCII without a colon, such as service',
};

/** The order is that of the help. */
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
    ignoredBySandbox: true,
    help: 'use the service at this URL, with or without its /v1',
  },
  apiKey: {
    kind: TEXT,
    value: 'KEY',
    secret: true,
    credential: 'key',
    help: 'send this key (a flag is visible in the process list)',
  },
  apiKeyFile: { kind: FILE, value: 'FILE', credential: 'key', help: 'read the API key from FILE; - is stdin' },
  apiKeyCommand: {
    from: ['file'],
    kind: ARGV,
    credential: 'key',
    help: 'run this program; the first line it prints is the API key',
  },
  keyIn: {
    kind: choice(...KEY_PLACEMENTS),
    value: 'WAY',
    ignoredBySandbox: true,
    defaultText: 'authorization, or header if a JWT is also sent',
    help: 'send the key this way',
  },
  keyHeader: {
    kind: KEY_HEADER,
    value: 'NAME',
    ignoredBySandbox: true,
    default: 'X-Service-Key',
    help: 'send the key in this header (with --key-in header)',
  },
  basicUser: {
    kind: USER_NAME,
    value: 'NAME',
    ignoredBySandbox: true,
    default: 'service',
    help: 'send this user name (with --key-in basic)',
  },
  jwtFile: {
    kind: FILE,
    value: 'FILE',
    credential: 'token',
    help: 'send the JWT in FILE, - for stdin, or in FILINGS_JWT',
  },
  // Not named `jwt`, because that is the recipe below, which only the config file can have.
  jwtToken: { from: ['env'], kind: TEXT, env: 'FILINGS_JWT', secret: true, credential: 'token', help: 'send this JWT' },
  jwt: {
    from: ['file'],
    // The members are still strings: settings.ts parses the lifetime and resolves the paths.
    kind: createObjectKind<Partial<Record<RecipeMember, string>>>(RECIPE_MEMBERS),
    credential: 'token',
    help: 'mint JWTs with this key; replace each before it expires',
  },
  sandbox: {
    from: ['flag', 'env'],
    kind: SWITCH,
    help: 'use a built-in service with sample filings; no account',
  },
  allowHttp: {
    kind: SWITCH,
    ignoredBySandbox: true,
    help: 'allow plain http to other machines (exposes the key)',
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
    help: 'give up if fewer than 1,000 bytes arrive within this time',
  },
  deadline: { kind: TIMEOUT, value: 'DURATION', help: 'stop the whole command after this time' },
  retries: {
    kind: integer({ min: 0, max: 1_000_000, example: 5 }),
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
  jobs: {
    kind: integer({ min: 1, max: 256, example: 4 }),
    short: 'j',
    value: 'N',
    default: '4',
    help: 'download N files at the same time',
  },
  rate: { kind: RATE, value: 'N/s|N/m', help: 'limit requests per second or minute, across all jobs' },
  listing: {
    from: ['file'],
    kind: createObjectKind<ListingDescription>(LISTING_MEMBERS),
    ignoredBySandbox: true,
    help: "describe the service's listing with JMESPath expressions",
  },
  color: {
    heading: 'Output',
    kind: choice('auto', 'always', 'never'),
    value: 'WHEN',
    default: 'auto',
    help: 'auto: on a terminal, or by NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE',
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
  quiet: {
    from: ['flag'],
    kind: SWITCH,
    short: 'q',
    help: 'print only errors, and warnings about downloaded files',
  },
  verbose: {
    from: ['flag'],
    kind: SWITCH,
    short: 'v',
    help: 'print requests, responses and waits, with secrets redacted',
  },
} as const satisfies Readonly<Record<string, SettingSpec>>;

export type SettingName = keyof typeof TABLE;

export type SettingValues = { readonly [Name in SettingName]: ValueOf<(typeof TABLE)[Name]> };

export interface NamedSetting extends Omit<SettingSpec, 'env'> {
  readonly name: SettingName;
  /** This and `env` are undefined where the setting cannot be given. */
  readonly flag: string | undefined;
  readonly env: string | undefined;
  readonly inFile: boolean;
}

function isFrom({ from }: SettingSpec, source: 'flag' | 'env' | 'file'): boolean {
  return from === undefined || from.includes(source);
}

export const SETTINGS: readonly NamedSetting[] = Object.entries<SettingSpec>(TABLE).map(([name, spec]) => ({
  ...spec,
  ...(spec.kind === SWITCH && { default: 'false' }),
  name: name as SettingName,
  flag: isFrom(spec, 'flag') ? `--${toKebabCase(name)}` : undefined,
  env: isFrom(spec, 'env') ? (spec.env ?? `FILINGS_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`) : undefined,
  inFile: isFrom(spec, 'file'),
}));

/** Every command accepts these flags. */
export const FLAG_SETTINGS = SETTINGS.filter((spec): spec is NamedSetting & NamedOption => spec.flag !== undefined);

/**
 * The end of a sentence about a value in the config file. `kind.expected` is for flags and variables, where a path has
 * no quotes, and `1` means true.
 */
export function describeExpected(kind: Kind<unknown>): string {
  if (kind.isPath) return 'a path in quotes';
  return kind.json === 'boolean' ? 'true or false' : kind.expected;
}
