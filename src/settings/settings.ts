// Parses the raw settings. Takes the layer that `resolvePrecedence` gives, and gives typed values with one source each
// for the key and the JWT. No secret is read here.
import { FilingsError } from '../errors.ts';
import type { TokenRecipe } from '../jwt/sign.ts';
import { isLoopback } from '../loopback.ts';
import { segmentsOf, typedPath } from '../paths.ts';
import type { KeyWay } from '../service/credentials.ts';
import { FILE } from '../spec/kind.ts';
import { readAs, valueError } from '../spec/option.ts';
import type { World } from '../world.ts';
import { type Layer, type RawSetting, sourceOf } from './layers.ts';
import type { SecretSource } from './read-secret.ts';
import { type NamedSetting, RECIPE_MEMBERS, SETTINGS, type SettingValues } from './table.ts';

/** The settings that are joined into `key` and `token`. */
type Credential = 'apiKey' | 'apiKeyFile' | 'apiKeyCommand' | 'jwtFile' | 'jwtToken' | 'jwt';

/** The parsed settings. Durations are in milliseconds. */
export interface Settings extends Omit<SettingValues, Credential | 'keyIn'> {
  readonly keyIn: KeyWay;
  readonly key: (SecretSource & WithSource) | undefined;
  readonly token: ((SecretSource | { readonly kind: 'recipe'; readonly recipe: TokenRecipe }) & WithSource) | undefined;
}

/** Names the source: `FILINGS_API_KEY`, `--api-key-file`, `/home/me/.config/filings/config.json: apiKey`. */
type WithSource = { readonly source: string };
type PathDeps = Pick<World, 'cwd' | 'env' | 'platform'>;

/** Returns the parsed settings. Throws `usage` or `config`, which name the source of the invalid value. */
export function readSettings(rawSettings: Layer, deps: PathDeps): Settings {
  const ungrouped = SETTINGS.filter(({ group }) => group === undefined);
  const values = Object.fromEntries(ungrouped.map((spec) => [spec.key, parseValue(spec, rawSettings.get(spec.key))]));
  const token = tokenSource(rawSettings, deps);
  // A JWT needs the Authorization header for itself (service.md, section 5).
  const keyIn = values.keyIn ?? (token ? 'header' : 'authorization');
  const settings = { ...values, keyIn, key: keySource(rawSettings, deps), token } as unknown as Settings;
  checkCombination(settings, rawSettings);
  return settings;
}

function parseValue({ kind }: NamedSetting, setting: RawSetting | undefined): unknown {
  // The schema of the config file has checked the members of an object.
  if (setting === undefined || kind.json === 'object') return setting?.value;
  return readAs(kind, String(setting.value), sourceOf(setting));
}

/** Throws `usage` or `config` if settings contradict each other. */
function checkCombination(settings: Settings, rawSettings: Layer): void {
  const { quiet, verbose, baseUrl, allowHttp, keyIn, token } = settings;
  if (quiet && verbose) throw new FilingsError('usage', '--quiet cannot be used with --verbose');
  if (baseUrl !== undefined) requireEncryption(baseUrl, allowHttp);
  for (const [key, way] of Object.entries({ keyHeader: 'header', basicUser: 'basic' })) {
    const setting = rawSettings.get(key);
    // Environment and config file may say what to do in runs that choose this way.
    if (setting?.level !== 'flag' || keyIn === way) continue;
    const subject = { name: setting.name };
    const hint = `add --key-in ${way}`;
    throw new FilingsError('usage', `has no effect, because the key is sent by ${keyIn}`, { subject, hint });
  }
  const rawKeyIn = rawSettings.get('keyIn');
  if (!token || !rawKeyIn || (keyIn !== 'authorization' && keyIn !== 'basic')) return;
  const { name, code } = sourceOf(rawKeyIn);
  throw new FilingsError(code, `${keyIn} cannot be used with a JWT, which is sent in Authorization`, {
    subject: { name },
    hint: 'send the key another way: --key-in header, --key-in query, --key-in path',
  });
}

/** Throws `config` for plain http except to loopback, because the network could read the key. */
function requireEncryption(url: URL, allowHttp: boolean): void {
  if (url.protocol === 'https:' || allowHttp || isLoopback(url.hostname)) return;
  throw new FilingsError('config', 'plain http would send the key unencrypted', {
    subject: { name: url.origin },
    hint: 'use https, or allow it with --allow-http (FILINGS_ALLOW_HTTP, allowHttp)',
  });
}

function keySource(rawSettings: Layer, deps: PathDeps): Settings['key'] {
  const command = rawSettings.get('apiKeyCommand');
  if (!command) return valueOrFile(rawSettings.get('apiKey'), rawSettings.get('apiKeyFile'), deps);
  const [program = '', ...args] = command.value as readonly string[];
  // A name without a slash is looked up in PATH.
  const executable = segmentsOf(program, deps.platform).length > 1 ? toAbsolute(program, command, deps) : program;
  return { kind: 'command', argv: [executable, ...args], source: command.name };
}

function tokenSource(rawSettings: Layer, deps: PathDeps): Settings['token'] {
  const recipe = rawSettings.get('jwt');
  if (!recipe) return valueOrFile(rawSettings.get('jwtToken'), rawSettings.get('jwtFile'), deps);
  return { kind: 'recipe', recipe: parseRecipe(recipe, deps), source: recipe.name };
}

function valueOrFile(value: RawSetting | undefined, file: RawSetting | undefined, deps: PathDeps) {
  if (value) return { kind: 'value', value: String(value.value), source: value.name } as const;
  if (!file) return undefined;
  const path = readAs(FILE, String(file.value), sourceOf(file));
  // `-` is stdin.
  return { kind: 'file', path: path === '-' ? path : toAbsolute(path, file, deps), source: file.name } as const;
}

function parseRecipe(setting: RawSetting, deps: PathDeps): TokenRecipe {
  const { keyFile, secretFile, lifetime, ...rest } = setting.value as Readonly<Record<string, string>>;
  const source = sourceOf(setting);
  if ((keyFile === undefined) === (secretFile === undefined)) {
    throw valueError(source, 'must have either keyFile or secretFile');
  }
  return {
    ...rest,
    keyFile: keyFile && toAbsolute(keyFile, setting, deps),
    secretFile: secretFile && toAbsolute(secretFile, setting, deps),
    lifetime:
      lifetime === undefined
        ? undefined
        : readAs(RECIPE_MEMBERS.lifetime, lifetime, { ...source, name: `${source.name}.lifetime` }),
  };
}

/** Returns the absolute path that a setting means. A path of the config file is relative to its directory. */
function toAbsolute(path: string, { directory }: RawSetting, deps: PathDeps): string {
  return typedPath(path, { env: deps.env, platform: deps.platform, cwd: directory ?? deps.cwd });
}

/** Returns the flags that read stdin, as a user writes them. */
export function stdinUsers(rawSettings: Layer): readonly string[] {
  const users = { apiKeyFile: '--api-key-file -', jwtFile: '--jwt-file -' };
  return Object.entries(users).flatMap(([key, user]) => (rawSettings.get(key)?.value === '-' ? [user] : []));
}

/** Returns the paths of the files of the credentials in use. */
export function credentialFiles({ key, token }: Pick<Settings, 'key' | 'token'>): readonly string[] {
  const recipe = token?.kind === 'recipe' ? token.recipe : undefined;
  const files = [key, token].map((source) =>
    source?.kind === 'file' && source.path !== '-' ? source.path : undefined,
  );
  return [...files, recipe?.keyFile, recipe?.secretFile].filter((path) => path !== undefined);
}
