import { FilingsError } from '../errors.ts';
import { isLoopback } from '../http/loopback.ts';
import type { TokenRecipe } from '../jwt/minter.ts';
import { homeIn, pathsOf, segmentsOf } from '../paths.ts';
import type { Flags } from '../spec/command.ts';
import { FILE, WHOLE_SECONDS } from '../spec/kind.ts';
import { readAs, valueError } from '../spec/option.ts';
import type { World } from '../world.ts';
import { envLayer, flagLayer, type Given, type Layer, resolvePrecedence, sourceOf } from './layers.ts';
import type { SecretPlace } from './read-secret.ts';
import { KEY_WAYS, type NamedSetting, SETTINGS, type SettingValues } from './table.ts';

/** They become one setting each for the key and for the JWT. */
type Credential = 'apiKey' | 'apiKeyFile' | 'apiKeyCommand' | 'jwtFile' | 'jwtToken' | 'jwt';

/** Durations in milliseconds. `keyIn` undefined: not given, so the default that suits the credentials. */
export interface Settings extends Omit<SettingValues, Credential> {
  readonly key: (SecretPlace & Sourced) | undefined;
  readonly token: ((SecretPlace | { readonly kind: 'recipe'; readonly recipe: TokenRecipe }) & Sourced) | undefined;
}

/** `FILINGS_API_KEY`, `--api-key-file`, `/home/me/.config/filings/config.json: apiKey`. */
type Sourced = { readonly source: string };
type Place = Pick<World, 'cwd' | 'env' | 'platform'>;

/** Throws `usage` or `config`, naming the source of what is wrong. */
export function readSettings(given: Layer, place: Place): Settings {
  const alone = SETTINGS.filter(({ group }) => group === undefined);
  const values = Object.fromEntries(alone.map((spec) => [spec.key, readGiven(spec, given.get(spec.key))]));
  const settings = { ...values, key: keyOf(given, place), token: tokenOf(given, place) } as unknown as Settings;
  checkTogether(settings, given);
  return settings;
}

function readGiven({ kind }: NamedSetting, given: Given | undefined): unknown {
  if (given === undefined) return kind.json === 'boolean' ? false : undefined;
  // The config file's schema has checked its members.
  if (kind.json === 'object') return given.value;
  return readAs(kind, String(given.value), sourceOf(given));
}

function checkTogether({ quiet, verbose, baseUrl, allowHttp, keyIn, token }: Settings, given: Layer): void {
  if (quiet && verbose) throw new FilingsError('usage', '--quiet cannot be used with --verbose');
  if (baseUrl !== undefined) requireEncryption(baseUrl, allowHttp);
  const ways = given.get('keyIn');
  if (token === undefined || ways === undefined || (keyIn !== 'authorization' && keyIn !== 'basic')) return;
  // A JWT needs the Authorization header for itself (service.md, section 5).
  const allowed = KEY_WAYS.filter((way) => way !== 'authorization' && way !== 'basic');
  const { name, code } = sourceOf(ways);
  throw new FilingsError(code, `${keyIn} cannot be used with a JWT, which is sent in Authorization`, {
    subject: { name },
    hint: `send the key another way: --key-in ${allowed.join(', --key-in ')}`,
  });
}

/** Plain http would show the key to everybody on the way: only loopback is near enough. */
function requireEncryption(url: URL, allowHttp: boolean): void {
  if (url.protocol === 'https:' || allowHttp || isLoopback(url.hostname)) return;
  throw new FilingsError('config', 'plain http would send the key unencrypted', {
    subject: { name: url.origin },
    hint: 'use https, or allow it with --allow-http (FILINGS_ALLOW_HTTP, allowHttp)',
  });
}

function keyOf(given: Layer, place: Place): Settings['key'] {
  const command = given.get('apiKeyCommand');
  if (!command) return placed(given.get('apiKey'), given.get('apiKeyFile'), place);
  const [program = '', ...args] = command.value as readonly string[];
  // A program with a slash in its name is a path like every other; others are looked up in PATH.
  const found = segmentsOf(program, place.platform).length > 1 ? absolute(program, command, place) : program;
  return { kind: 'command', argv: [found, ...args], source: command.name };
}

function tokenOf(given: Layer, place: Place): Settings['token'] {
  const recipe = given.get('jwt');
  if (!recipe) return placed(given.get('jwtToken'), given.get('jwtFile'), place);
  return { kind: 'recipe', recipe: recipeOf(recipe, place), source: recipe.name };
}

function placed(value: Given | undefined, file: Given | undefined, place: Place) {
  if (value) return { kind: 'value', value: String(value.value), source: value.name } as const;
  if (!file) return undefined;
  const path = readAs(FILE, String(file.value), sourceOf(file));
  // `-` is stdin.
  return { kind: 'file', path: path === '-' ? path : absolute(path, file, place), source: file.name } as const;
}

function recipeOf(given: Given, place: Place): TokenRecipe {
  const { keyFile, secretFile, lifetime, ...rest } = given.value as Readonly<Record<string, string>>;
  const source = sourceOf(given);
  if ((keyFile === undefined) === (secretFile === undefined)) {
    throw valueError(source, 'must have either keyFile or secretFile');
  }
  return {
    ...rest,
    keyFile: keyFile && absolute(keyFile, given, place),
    secretFile: secretFile && absolute(secretFile, given, place),
    lifetime:
      lifetime === undefined
        ? undefined
        : readAs(WHOLE_SECONDS, lifetime, { ...source, name: `${source.name}.lifetime` }),
  };
}

/** A path as its source means it: no shell expands `~/` in a file. */
export function absolute(path: string, { directory }: Given, place: Place): string {
  const { isAbsolute, join, resolve } = pathsOf(place.platform);
  if (isAbsolute(path)) return path;
  const home = homeIn(place.env, place.platform);
  return directory && home && path.startsWith('~/') ? join(home, path.slice(2)) : resolve(directory ?? place.cwd, path);
}

/** For commands that resolve no settings: from flags and environment alone. Throws `usage`: two of one secret. */
export function stdinUsersGiven(flags: Flags, env: World['env']): readonly string[] {
  return stdinUsers(resolvePrecedence([flagLayer(flags), envLayer(env)]));
}

/** Who among what was given reads stdin, as a person would write it. */
export function stdinUsers(given: Layer): readonly string[] {
  const users = { apiKeyFile: '--api-key-file -', jwtFile: '--jwt-file -' };
  return Object.entries(users).flatMap(([key, user]) => (given.get(key)?.value === '-' ? [user] : []));
}
