// The sources of settings as layers: flags, environment, profile, config file and defaults. Each layer has the raw
// settings of one source. `resolvePrecedence` takes the layers, highest first, and gives the raw settings that count.
import { dirname } from 'node:path';
import querystring from 'node:querystring';
import { FilingsError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { ValueSource } from '../spec/option.ts';
import type { World } from '../world.ts';
import { type NamedSetting, SETTINGS, type SettingKey } from './table.ts';

type Level = 'flag' | 'env' | 'profile' | 'file' | 'default';

/** A value before it is parsed: text, `true` for the flag of a switch, JSON from the config file. */
export interface RawSetting {
  readonly value: unknown;
  readonly level: Level;
  /** The source: `--jobs`, `FILINGS_JOBS`, `/home/me/c.json: profiles.work.jobs`, `default`. */
  readonly name: string;
  /** The directory of the config file, against which relative paths are resolved. Other sources have none. */
  readonly directory?: string;
  readonly profile?: string | undefined;
}

/** Raw settings by their keys. */
export type Layer = ReadonlyMap<string, RawSetting>;

/** Returns the layer of the flags. */
export function flagLayer(flags: JsonObject): Layer {
  return createLayer(({ key, option }) => option && { level: 'flag', name: option, value: flags[key] });
}

/** Returns the layer of the environment. A variable with an empty value is treated as unset. */
export function envLayer(env: World['env']): Layer {
  return createLayer(({ key, env: name }) => {
    // A carriage return remains of a Windows file that a shell has read.
    const value = name && env[name]?.replace(/\r$/, '');
    if (value) return { level: 'env', name, value };
    return key === 'color' && colorFromEnvironment(env);
  });
}

interface Profile {
  readonly name: string;
  readonly values: JsonObject;
}

/** Returns the layers of the config file, the profile's first. `null` in a profile unsets the top level's value. */
export function fileLayers(path: string, values: JsonObject, profile?: Profile): readonly Layer[] {
  const top = fileLayer(path, values);
  if (profile === undefined) return [top];
  const isNull = ([key]: readonly [string, unknown]) =>
    Object.hasOwn(profile.values, key) && profile.values[key] === null;
  const layers = [fileLayer(path, profile.values, profile.name), top];
  return layers.map((layer) => new Map([...layer].filter((entry) => !isNull(entry))));
}

function fileLayer(path: string, values: JsonObject, profile?: string): Layer {
  const prefix = profile === undefined ? '' : `profiles.${profile}.`;
  const level = profile === undefined ? 'file' : 'profile';
  const value = (key: string) => (Object.hasOwn(values, key) ? values[key] : undefined);
  return createLayer(
    ({ key, inFile }) =>
      inFile && { level, name: `${path}: ${prefix}${key}`, value: value(key), directory: dirname(path), profile },
  );
}

/** Returns the layer of the defaults. */
export function defaultLayer(): Layer {
  return createLayer(({ default: value }) => ({ level: 'default', name: 'default', value }));
}

function createLayer(read: (spec: NamedSetting) => RawSetting | undefined | '' | false): Layer {
  return new Map(
    SETTINGS.flatMap((spec) => {
      const setting = read(spec);
      return setting && setting.value !== undefined ? [[spec.key, setting] as const] : [];
    }),
  );
}

/** Follows no-color.org, then bixense.com/clicolors. */
function colorFromEnvironment({ NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE }: World['env']): RawSetting | undefined {
  const level = 'env';
  if (NO_COLOR) return { level, name: 'NO_COLOR', value: 'never' };
  if (FORCE_COLOR)
    return { level, name: 'FORCE_COLOR', value: ['0', 'false'].includes(FORCE_COLOR) ? 'never' : 'always' };
  return CLICOLOR_FORCE && CLICOLOR_FORCE !== '0' ? { level, name: 'CLICOLOR_FORCE', value: 'always' } : undefined;
}

/** Returns the raw setting from the highest layer that has it. */
export function findInLayers(layers: readonly Layer[], key: SettingKey): RawSetting | undefined {
  return layers.find((layer) => layer.has(key))?.get(key);
}

/**
 * Returns each setting from the highest layer that has it. Members of a group are alternatives: the highest layer that
 * has one of them decides. Throws `usage` or `config` if this layer has two.
 */
export function resolvePrecedence(layers: readonly Layer[]): Layer {
  const rawSettings = new Map<string, RawSetting>();
  for (const { key, group } of SETTINGS) {
    const alternatives = SETTINGS.filter((other) => other.key === key || (group && other.group === group));
    const highest = layers.find((layer) => alternatives.some((spec) => layer.has(spec.key)));
    const [first, second] = alternatives.flatMap((spec) => highest?.get(spec.key) ?? []);
    if (first && second) {
      const credential = group === 'key' ? 'the API key' : 'the JWT';
      const subject = { name: `${first.name} and ${second.name}` };
      const { code } = sourceOf(first);
      const hint = code === 'config' ? 'remove one of them from the config file' : 'use only one of them';
      throw new FilingsError(code, `two sources of ${credential}`, { subject, hint });
    }
    const setting = highest?.get(key);
    if (setting) rawSettings.set(key, setting);
  }
  return rawSettings;
}

/** Returns the source for error messages, with the code `usage` for flags and environment, otherwise `config`. */
export function sourceOf({ name, level }: RawSetting): ValueSource {
  return { name, code: level === 'flag' || level === 'env' ? 'usage' : 'config' };
}

// The secrets of the environment and of settings are registered for redaction as soon as they are known, because the
// first message may already repeat one. `readSecret` registers the secrets of files and programs.

/** The variables that name a proxy. */
const PROXIES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];

/** Registers the secrets in the environment, including user and password in the URL of a proxy. */
export function rememberEnvironment({ env, secrets }: World): void {
  for (const spec of SETTINGS) if (spec.secret && spec.env) secrets.add((env[spec.env] ?? '').trim());
  for (const name of PROXIES) {
    const [, pair = ''] = /^(?:[a-z][\w+.-]*:\/\/)?([^/?#]+)@/i.exec(env[name] ?? '') ?? [];
    const credentials = querystring.unescape(pair);
    secrets.add(credentials);
    secrets.add(credentials.slice(credentials.indexOf(':') + 1));
  }
}

/** Registers the secrets among flags, or among the members of one level of the config file. */
export function rememberSettings(values: JsonObject, { secrets }: World): void {
  for (const { key, secret } of SETTINGS) {
    const value = secret && values[key];
    if (typeof value === 'string') secrets.add(value.trim());
  }
}
