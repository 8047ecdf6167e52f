import { isAbsolute, join, resolve } from 'node:path';
import { FilingsError } from '../errors.ts';
import { checkBaseUrl, parseBaseUrl } from './base-url.ts';
import { wantedCount } from './config-fault.ts';
import { type Given, type Layer, sourceOf } from './layers.ts';
import { KEY_WAYS, SETTINGS, type SettingSpec } from './options.ts';
import type { JwtRecipe, KeySource, Settings, TokenSource } from './settings.ts';
import { parseCount, readChoice, readValue, type ValueKind, type ValueTypes, valueError } from './values.ts';

/** What a timer can count; a longer time is as good as none. Milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** RFC 9110 section 5.1. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Those the request needs for itself. */
const TAKEN_HEADERS =
  /^(accept-encoding|authorization|connection|content-length|cookie|expect|host|if-range|keep-alive|range|te|trailer|transfer-encoding|upgrade|user-agent|proxy-.*)$/i;

/**
 * The values that won, read and checked.
 * @throws FilingsError `usage` or `config`, naming the source of what is wrong
 */
export function typedSettings(given: Layer): Settings {
  const read = reader(given);
  const settings: Settings = Object.freeze({
    baseUrl: baseUrlOf(given),
    key: keyOf(given),
    keyIn: read.choice('keyIn') as Settings['keyIn'],
    keyHeader: keyHeaderOf(given),
    basicUser: basicUserOf(given),
    token: tokenOf(given),
    sandbox: read.flag('sandbox'),
    allowHttp: read.flag('allowHttp'),
    connectTimeout: read.timer('connectTimeout') ?? 0,
    idleTimeout: read.timer('idleTimeout') ?? 0,
    deadline: read.timer('deadline'),
    retries: read.count('retries'),
    maxRetryAfter: read.timer('maxRetryAfter') ?? 0,
    jobs: read.count('jobs'),
    rate: read.value('rate', 'rate'),
    color: read.choice('color') as Settings['color'],
    progress: read.choice('progress') as Settings['progress'],
    errorFormat: read.choice('errorFormat') as Settings['errorFormat'],
    quiet: read.flag('quiet'),
    verbose: read.flag('verbose'),
  });
  checkTogether(settings, given);
  return settings;
}

/** Rules about more than one setting. */
function checkTogether(settings: Settings, given: Layer): void {
  if (settings.quiet && settings.verbose) {
    throw new FilingsError('usage', '--quiet and --verbose: they exclude each other');
  }
  if (settings.baseUrl !== undefined) checkBaseUrl(settings.baseUrl, settings.allowHttp);
  const { keyIn, token } = settings;
  if (token === undefined || (keyIn !== 'authorization' && keyIn !== 'basic')) return;
  // Contract part 5, rule 1.
  const allowed = KEY_WAYS.filter((way) => way !== 'authorization' && way !== 'basic');
  const source = sourceOf(given.get('keyIn'));
  throw new FilingsError(
    source.code,
    `${source.name}: ${keyIn} is not possible with a JWT, which takes Authorization`,
    {
      hint: `send the key another way: --key-in ${allowed.join(', --key-in ')}`,
    },
  );
}

/** Typed looks at the values that won. */
function reader(given: Layer) {
  const value = <K extends ValueKind>(kind: K, key: string): ValueTypes[K] | undefined => {
    const one = given.get(key);
    return one && readValue(kind, String(one.value), sourceOf(one));
  };
  return {
    value,
    flag: (key: string) => value('switch', key) ?? false,
    timer(key: string) {
      const milliseconds = value(specOf(key).kind === 'timeout' ? 'timeout' : 'duration', key);
      return milliseconds && Math.min(milliseconds, LONGEST_TIMER);
    },
    choice(key: string) {
      const one = given.get(key);
      return one && readChoice(specOf(key).option?.choices ?? [], String(one.value), sourceOf(one));
    },
    count: (key: string) => countOf(specOf(key), given.get(key)),
  };
}

function countOf(spec: SettingSpec, given: Given | undefined): number {
  const text = String(given?.value);
  const count = parseCount(text) ?? Number.NaN;
  const [least, most] = spec.range ?? [0, Number.MAX_SAFE_INTEGER];
  if (count >= least && count <= most) return count;
  throw valueError(sourceOf(given), `must be ${wantedCount(spec)}`, text);
}

function specOf(key: string): SettingSpec {
  const spec = SETTINGS.find((one) => one.key === key);
  if (spec === undefined) throw new FilingsError('internal', `${key}: no such setting`);
  return spec;
}

function baseUrlOf(given: Layer): URL | undefined {
  const one = given.get('baseUrl');
  return one && parseBaseUrl(String(one.value), sourceOf(one));
}

function keyOf(given: Layer): KeySource | undefined {
  const value = given.get('apiKey');
  if (value !== undefined) return { kind: 'value', value: String(value.value) };
  const file = given.get('apiKeyFile');
  if (file !== undefined) return { kind: 'file', path: pathOf(file) };
  const command = given.get('apiKeyCommand');
  return command && { kind: 'command', argv: commandOf(command) };
}

/** A program with a slash in its name is a path like every other; others are looked up in PATH. */
function commandOf(given: Given): readonly string[] {
  const [program = '', ...args] = given.value as readonly string[];
  return [program.includes('/') ? absolute(program, given) : program, ...args];
}

function tokenOf(given: Layer): TokenSource | undefined {
  const file = given.get('jwtFile');
  if (file !== undefined) return { kind: 'file', path: pathOf(file) };
  const value = given.get('jwtToken');
  if (value !== undefined) return { kind: 'value', value: String(value.value) };
  const recipe = given.get('jwt');
  return recipe && { kind: 'recipe', recipe: recipeOf(recipe) };
}

function recipeOf(given: Given): JwtRecipe {
  const { keyFile, secretFile, lifetime, ...rest } = given.value as Readonly<Record<string, string>>;
  const source = sourceOf(given);
  if ((keyFile === undefined) === (secretFile === undefined)) {
    const fault =
      keyFile === undefined ? 'keyFile or secretFile is missing' : 'keyFile and secretFile exclude each other';
    throw valueError(source, fault);
  }
  return {
    ...rest,
    ...(keyFile !== undefined && { keyFile: absolute(keyFile, given) }),
    ...(secretFile !== undefined && { secretFile: absolute(secretFile, given) }),
    ...(lifetime !== undefined && {
      lifetime: readValue('timeout', lifetime, { ...source, name: `${source.name}.lifetime` }),
    }),
  };
}

function keyHeaderOf(given: Layer): string {
  const one = given.get('keyHeader');
  const name = String(one?.value ?? '');
  if (!HEADER_NAME.test(name)) throw valueError(sourceOf(one), 'must be the name of a header, such as X-Service-Key');
  if (!TAKEN_HEADERS.test(name)) return name;
  const way = name.toLowerCase() === 'authorization' ? ': use --key-in authorization' : '';
  throw valueError(sourceOf(one), `${name} is not free to carry a key${way}`);
}

/** RFC 7617 section 2: no colon in a user name. */
function basicUserOf(given: Layer): string {
  const one = given.get('basicUser');
  const name = String(one?.value ?? '');
  if (/^[ -9;-~]+$/.test(name)) return name;
  throw valueError(sourceOf(one), 'must be a user name of plain letters without a colon, such as service');
}

/** `-` stays: it is stdin. */
function pathOf(given: Given): string {
  const path = String(given.value);
  if (path === '') throw valueError(sourceOf(given), 'must be a file', path);
  return path === '-' ? path : absolute(path, given);
}

/** A path as its source means it. */
function absolute(path: string, { folder, home }: Given): string {
  if (isAbsolute(path)) return path;
  return home && path.startsWith('~/') ? join(home, path.slice(2)) : resolve(folder, path);
}
