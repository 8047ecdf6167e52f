// Parses the merged raw settings. The secrets themselves are read later, by commands that need them.
import { FilingsError } from '../errors.ts';
import type { TokenRecipe } from '../jwt/sign.ts';
import { isLoopback } from '../loopback.ts';
import { resolveUserPath, splitPath } from '../paths.ts';
import type { KeyPlacement } from '../service/credentials.ts';
import { FILE, type Kind } from '../spec/kind.ts';
import { parseOrThrow, valueError } from '../spec/option.ts';
import type { World } from '../world.ts';
import { type RawSetting, type RawSettings, toValueSource } from './layers.ts';
import type { SecretSource } from './read-secret.ts';
import { type NamedSetting, RECIPE_MEMBERS, SETTINGS, type SettingValues } from './table.ts';

type CredentialName = 'apiKey' | 'apiKeyFile' | 'apiKeyCommand' | 'jwtFile' | 'jwtToken' | 'jwt';

/** Durations are in milliseconds. */
export interface Settings extends Omit<SettingValues, CredentialName | 'keyIn'> {
  /** Never undefined, because its default is decided here. */
  readonly keyIn: KeyPlacement;
  readonly keySource: KeySource | undefined;
  readonly tokenSource: TokenSource | undefined;
}

export type KeySource = SecretSource & SetBy;
export type TokenSource = (SecretSource | { readonly kind: 'recipe'; readonly recipe: TokenRecipe }) & SetBy;

type SetBy = { readonly setBy: string };
type PathDeps = Pick<World, 'cwd' | 'env' | 'platform'>;

export function parseSettings(rawSettings: RawSettings, deps: PathDeps): Settings {
  const specs = SETTINGS.filter(({ credential }) => credential === undefined);
  const entries = specs.map((spec) => [spec.name, parseValue(spec, rawSettings.get(spec.name))] as const);
  const values = Object.fromEntries(entries) as Omit<SettingValues, CredentialName>;
  const keySource = findKeySource(rawSettings, deps);
  const tokenSource = findTokenSource(rawSettings, deps);
  // With a JWT, the Authorization header is not free for the key (docs/service.md, section 5).
  const keyIn = values.keyIn ?? (tokenSource ? 'header' : 'authorization');
  const settings = { ...values, keyIn, keySource, tokenSource };
  requireCompatible(settings, rawSettings);
  return settings;
}

function parseValue({ kind }: NamedSetting, setting: RawSetting | undefined): unknown {
  // Objects, such as `listing`, occur only in the config file, whose schema has checked them.
  if (setting === undefined || kind.json === 'object') return setting?.value;
  // Kinds parse strings, so a number of the config file, or the `true` of a switch, is converted to a string first.
  return parseOrThrow(kind, String(setting.value), toValueSource(setting));
}

function requireCompatible(settings: Settings, rawSettings: RawSettings): void {
  const { quiet, verbose, baseUrl, allowHttp, keyIn, tokenSource } = settings;
  if (quiet && verbose) throw new FilingsError('usage', '--quiet cannot be used with --verbose');
  if (baseUrl !== undefined) requireEncryption(baseUrl, allowHttp);
  // Each of these settings has an effect with one value of `keyIn` only.
  for (const [name, placement] of Object.entries({ keyHeader: 'header', basicUser: 'basic' })) {
    const setting = rawSettings.get(name);
    // In the environment or the file, the setting may be meant for other runs.
    if (setting?.sourceKind !== 'flag' || keyIn === placement) continue;
    const details = { subject: { name: setting.setBy }, hint: `use --key-in ${placement}` };
    throw new FilingsError('usage', `has no effect with --key-in ${keyIn}`, details);
  }
  // If `keyIn` was not set, its default has avoided the conflict below.
  const rawKeyIn = rawSettings.get('keyIn');
  if (!tokenSource || !rawKeyIn || (keyIn !== 'authorization' && keyIn !== 'basic')) return;
  const { name, code } = toValueSource(rawKeyIn);
  throw new FilingsError(code, `${keyIn} cannot be used with a JWT, because both need the Authorization header`, {
    subject: { name },
    hint: 'use --key-in header, --key-in query or --key-in path',
  });
}

/**
 * Everyone on the network path could read the key. The error is `config` even for a URL from a flag, because `baseUrl`
 * and `allowHttp` may come from different sources.
 */
function requireEncryption(url: URL, allowHttp: boolean): void {
  if (url.protocol === 'https:' || allowHttp || isLoopback(url.hostname)) return;
  throw new FilingsError('config', 'plain http would send the key unencrypted', {
    subject: { name: url.origin },
    hint: 'use https, or allow http with --allow-http, FILINGS_ALLOW_HTTP=1 or filings config set allow-http true',
  });
}

/** `resolvePrecedence` leaves at most one of the settings for the key, and for the JWT. */
function findKeySource(rawSettings: RawSettings, deps: PathDeps): KeySource | undefined {
  const command = rawSettings.get('apiKeyCommand');
  if (!command) return toSecretSource(rawSettings.get('apiKey'), rawSettings.get('apiKeyFile'), deps);
  const [program = '', ...args] = command.value as readonly string[];
  // The system looks up a name without a slash in PATH.
  const executable = splitPath(program, deps.platform).length > 1 ? toAbsolute(program, command, deps) : program;
  return { kind: 'command', argv: [executable, ...args], setBy: command.setBy };
}

function findTokenSource(rawSettings: RawSettings, deps: PathDeps): TokenSource | undefined {
  const recipe = rawSettings.get('jwt');
  if (!recipe) return toSecretSource(rawSettings.get('jwtToken'), rawSettings.get('jwtFile'), deps);
  return { kind: 'recipe', recipe: parseRecipe(recipe, deps), setBy: recipe.setBy };
}

function toSecretSource(value: RawSetting | undefined, file: RawSetting | undefined, deps: PathDeps) {
  if (value) return { kind: 'value', value: String(value.value), setBy: value.setBy } as const;
  if (!file) return undefined;
  const path = parseOrThrow(FILE, String(file.value), toValueSource(file));
  if (path === '-') return { kind: 'stdin', setBy: file.setBy } as const;
  return { kind: 'file', path: toAbsolute(path, file, deps), setBy: file.setBy } as const;
}

function parseRecipe(setting: RawSetting, deps: PathDeps): TokenRecipe {
  // The schema of the config file has checked that all members are strings.
  const { keyFile, secretFile, alg, lifetime, ...rest } = setting.value as Readonly<Record<string, string>>;
  const valueSource = toValueSource(setting);
  if ((keyFile === undefined) === (secretFile === undefined)) {
    throw valueError(valueSource, 'must have exactly one of keyFile and secretFile');
  }
  const parseMember = <T>(name: string, kind: Kind<T>, text: string | undefined) =>
    text === undefined ? undefined : parseOrThrow(kind, text, { ...valueSource, name: `${valueSource.name}.${name}` });
  return {
    ...rest,
    key: {
      kind: secretFile === undefined ? 'key' : 'secret',
      path: toAbsolute(secretFile ?? keyFile ?? '', setting, deps),
    },
    alg: parseMember('alg', RECIPE_MEMBERS.alg, alg),
    lifetime: parseMember('lifetime', RECIPE_MEMBERS.lifetime, lifetime),
  };
}

/** Paths in the config file are relative to its directory. */
function toAbsolute(path: string, { directory }: RawSetting, deps: PathDeps): string {
  return resolveUserPath(path, { env: deps.env, platform: deps.platform, cwd: directory ?? deps.cwd });
}

/** For `refuseSharedStream`. */
export function listStdinFlags(getValue: (name: string) => unknown): readonly string[] {
  const flags = { apiKeyFile: '--api-key-file -', jwtFile: '--jwt-file -' };
  return Object.entries(flags).flatMap(([name, flag]) => (getValue(name) === '-' ? [flag] : []));
}

/** Absolute paths, which no download may replace. */
export function listCredentialFiles({ keySource, tokenSource }: Settings): readonly string[] {
  const recipe = tokenSource?.kind === 'recipe' ? tokenSource.recipe : undefined;
  const files = [keySource, tokenSource].map((secret) => (secret?.kind === 'file' ? secret.path : undefined));
  return [...files, recipe?.key.path].filter((path) => path !== undefined);
}
