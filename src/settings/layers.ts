// Settings before they are parsed, and their layers. Also registers the secrets among them.
import { dirname } from 'node:path';
import querystring from 'node:querystring';
import { FilingsError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { ValueSource } from '../spec/option.ts';
import { splitProxyUrl } from '../text.ts';
import type { World } from '../world.ts';
import { CREDENTIALS, type NamedSetting, SETTINGS, type SettingName } from './table.ts';

export interface RawSetting {
  /** A string, `true` for a switch that was given as a flag, or JSON from the config file. */
  readonly value: unknown;
  readonly sourceKind: 'flag' | 'env' | 'profile' | 'file' | 'default';
  /** The setting in the user's words: `--jobs`, `FILINGS_JOBS`, `/home/me/c.json: profiles.work.jobs`, `default`. */
  readonly setBy: string;
  /** The directory of the config file, to which relative paths in it refer. */
  readonly directory?: string;
}

export type Layer = ReadonlyMap<string, RawSetting>;
export type RawSettings = Layer;

/** The flags and the environment. An empty variable is treated as unset. */
export function createRunLayers(flags: JsonObject, env: World['env']): readonly Layer[] {
  const flagLayer = createLayer(({ name, flag }) => flag && { sourceKind: 'flag', setBy: flag, value: flags[name] });
  const envLayer = createLayer(({ name, env: variable }) => {
    // A shell that reads a variable from a Windows file leaves a carriage return at its end.
    const value = variable && env[variable]?.replace(/\r$/, '');
    if (value) return { sourceKind: 'env', setBy: variable, value };
    // Without FILINGS_COLOR, the variables that all programs share decide.
    return name === 'color' && readColorConventions(env);
  });
  return [flagLayer, envLayer];
}

export interface Profile {
  readonly name: string;
  readonly values: JsonObject;
}

/** `null` in the profile removes the setting from both layers, so that its default applies. */
export function createFileLayers(path: string, values: JsonObject, profile?: Profile): readonly Layer[] {
  const top = createFileLayer(path, values);
  if (profile === undefined) return [top];
  const layers = [createFileLayer(path, profile.values, profile.name), top];
  return layers.map((layer) => new Map([...layer].filter(([name]) => profile.values[name] !== null)));
}

function createFileLayer(path: string, values: JsonObject, profile?: string): Layer {
  const prefix = profile === undefined ? '' : `profiles.${profile}.`;
  const sourceKind = profile === undefined ? 'file' : 'profile';
  const directory = dirname(path);
  return createLayer(
    ({ name, inFile }) => inFile && { sourceKind, setBy: `${path}: ${prefix}${name}`, value: values[name], directory },
  );
}

export function createDefaultLayer(): Layer {
  return createLayer(({ default: value }) => ({ sourceKind: 'default', setBy: 'default', value }));
}

function createLayer(read: (spec: NamedSetting) => RawSetting | undefined | '' | false): Layer {
  return new Map(
    SETTINGS.flatMap((spec) => {
      const setting = read(spec);
      return setting && setting.value !== undefined ? [[spec.name, setting] as const] : [];
    }),
  );
}

/**
 * NO_COLOR (https://no-color.org) first, then FORCE_COLOR, where `0` and `false` mean no color, as in chalk, then
 * CLICOLOR_FORCE (https://bixense.com/clicolors).
 */
function readColorConventions({ NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE }: World['env']): RawSetting | undefined {
  const from = (setBy: string, value: string) => ({ sourceKind: 'env', setBy, value }) as const;
  if (NO_COLOR) return from('NO_COLOR', 'never');
  if (FORCE_COLOR) return from('FORCE_COLOR', ['0', 'false'].includes(FORCE_COLOR) ? 'never' : 'always');
  return CLICOLOR_FORCE && CLICOLOR_FORCE !== '0' ? from('CLICOLOR_FORCE', 'always') : undefined;
}

/** The highest layer comes first. */
export function findInLayers(layers: readonly Layer[], name: SettingName): RawSetting | undefined {
  return layers.find((layer) => layer.has(name))?.get(name);
}

/** Of a setting that decides how the others are read. It cannot come from the config file yet. */
export function findRunSetting(name: SettingName, flags: JsonObject, env: World['env']): RawSetting | undefined {
  return findInLayers(createRunLayers(flags, env), name);
}

/**
 * Merges all layers, with the defaults as the lowest. Settings with the same `credential` are alternatives, such as
 * `apiKey` and `apiKeyFile`. All of them come from the highest layer that has any: a key from a flag also overrides a
 * key file from the environment.
 */
export function resolvePrecedence(higherLayers: readonly Layer[]): RawSettings {
  const layers = [...higherLayers, createDefaultLayer()];
  const rawSettings = new Map<string, RawSetting>();
  for (const { name, credential } of SETTINGS) {
    const setting = credential ? undefined : findInLayers(layers, name);
    if (setting) rawSettings.set(name, setting);
  }
  for (const [credential, { label }] of Object.entries(CREDENTIALS)) {
    const names: readonly string[] = SETTINGS.filter((spec) => spec.credential === credential).map(({ name }) => name);
    const highest = layers.find((layer) => names.some((name) => layer.has(name)));
    const [chosen, other] = [...(highest ?? [])].filter(([name]) => names.includes(name));
    if (chosen && other) throw twoSourcesError(label, chosen[1], other[1]);
    if (chosen) rawSettings.set(...chosen);
  }
  return rawSettings;
}

function twoSourcesError(label: string, one: RawSetting, other: RawSetting): FilingsError {
  const { code } = toValueSource(one);
  const subject = { name: `${one.setBy} and ${other.setBy}` };
  const hint = code === 'config' ? 'remove one of them from the config file' : 'use only one of them';
  return new FilingsError(code, `two sources of the ${label}`, { subject, hint });
}

/** `usage` for flags and environment, otherwise `config`. */
export function toValueSource({ setBy, sourceKind }: RawSetting): ValueSource {
  return { name: setBy, code: sourceKind === 'flag' || sourceKind === 'env' ? 'usage' : 'config' };
}

// Secrets are registered before any value is checked, because the first error may already quote one. `readSecret`
// registers those that come from files and programs. A secret has no white space around it, hence `trim`.

const PROXY_VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];

/** The user and the password in the URL of a proxy are secrets as well. */
export function registerEnvironmentSecrets({ env, secrets }: World): void {
  for (const spec of SETTINGS) if (spec.secret && spec.env) secrets.add((env[spec.env] ?? '').trim());
  for (const name of PROXY_VARIABLES) {
    const { userInfo } = splitProxyUrl(env[name] ?? '');
    // Unlike decodeURIComponent, `unescape` does not throw if the URL is malformed.
    const credentials = querystring.unescape(userInfo);
    secrets.add(credentials);
    // Without a colon, `slice(0)` adds the same string again.
    secrets.add(credentials.slice(credentials.indexOf(':') + 1));
  }
}

/** `values` are the flags, or the top level or a profile of the config file. */
export function registerSecretSettings(values: JsonObject, { secrets }: World): void {
  for (const { name, secret } of SETTINGS) {
    const value = secret && values[name];
    if (typeof value === 'string') secrets.add(value.trim());
  }
}
