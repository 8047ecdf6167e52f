import { dirname } from 'node:path';
import { FilingsError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { nearest } from '../spec/nearest.ts';
import type { ValueSource } from '../spec/option.ts';
import type { World } from '../world.ts';
import { type NamedSetting, SETTINGS, type SettingKey } from './table.ts';

type Level = 'flag' | 'env' | 'profile' | 'file' | 'default';

/** A value as it was given: text, `true` for a switch's flag, JSON from the config file. */
export interface Given {
  readonly value: unknown;
  readonly level: Level;
  /** Where it came from: `--jobs`, `FILINGS_JOBS`, `/home/me/c.json: profiles.work.jobs`, `default`. */
  readonly name: string;
  /** Of the config file: its relative paths begin there. */
  readonly directory?: string;
  readonly profile?: string | undefined;
}

/** By the keys of settings. */
export type Layer = ReadonlyMap<string, Given>;

export function flagLayer(flags: JsonObject): Layer {
  return layer(({ key, option }) => option && { level: 'flag', name: option, value: flags[key] });
}

/** A variable set to the empty string counts as unset. */
export function envLayer(env: World['env']): Layer {
  return layer(({ key, env: name }) => {
    if (name && env[name]) return { level: 'env', name, value: env[name] };
    return key === 'color' && colorFromEnvironment(env);
  });
}

interface Profile {
  readonly name: string;
  readonly values: JsonObject;
}

/** The layers of the config file, the profile's first. `null` in the profile unsets what the top level sets. */
export function fileLayers(path: string, values: JsonObject, profile?: Profile): readonly Layer[] {
  const top = fileLayer(path, values);
  if (profile === undefined) return [top];
  const isNull = ([key]: readonly [string, unknown]) =>
    Object.hasOwn(profile.values, key) && profile.values[key] === null;
  const layers = [fileLayer(path, profile.values, profile.name), top];
  return layers.map((one) => new Map([...one].filter((entry) => !isNull(entry))));
}

function fileLayer(path: string, values: JsonObject, profile?: string): Layer {
  const prefix = profile === undefined ? '' : `profiles.${profile}.`;
  const level = profile === undefined ? 'file' : 'profile';
  const value = (key: string) => (Object.hasOwn(values, key) ? values[key] : undefined);
  return layer(
    ({ key, inFile }) =>
      inFile && { level, name: `${path}: ${prefix}${key}`, value: value(key), directory: dirname(path), profile },
  );
}

export function defaultLayer(): Layer {
  return layer(({ default: value }) => ({ level: 'default', name: 'default', value }));
}

/** What to say of variables that nothing reads: a misspelt one would silently not count. */
export function unknownVariables(env: World['env']): readonly string[] {
  const prefix = 'FILINGS_';
  const known = SETTINGS.flatMap((spec) => spec.env?.slice(prefix.length) ?? []);
  return Object.keys(env).flatMap((variable) => {
    const name = variable.slice(prefix.length);
    if (!variable.startsWith(prefix) || !env[variable] || known.includes(name)) return [];
    const meant = nearest(name, known);
    return `${variable} is not used: ${meant ? `did you mean ${prefix}${meant}?` : "see 'filings help environment'"}`;
  });
}

function layer(give: (spec: NamedSetting) => Given | undefined | '' | false): Layer {
  return new Map(
    SETTINGS.flatMap((spec) => {
      const given = give(spec);
      return given && given.value !== undefined ? [[spec.key, given] as const] : [];
    }),
  );
}

/** The conventions of no-color.org and of bixense.com/clicolors, strongest first. */
function colorFromEnvironment({ NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE }: World['env']): Given | undefined {
  const level = 'env';
  if (NO_COLOR) return { level, name: 'NO_COLOR', value: 'never' };
  if (FORCE_COLOR)
    return { level, name: 'FORCE_COLOR', value: ['0', 'false'].includes(FORCE_COLOR) ? 'never' : 'always' };
  return CLICOLOR_FORCE && CLICOLOR_FORCE !== '0' ? { level, name: 'CLICOLOR_FORCE', value: 'always' } : undefined;
}

export function firstOf(layers: readonly Layer[], key: SettingKey): Given | undefined {
  return layers.find((one) => one.has(key))?.get(key);
}

/**
 * For each setting the first layer that has it; the first that has any of a group decides for all of it, and an error
 * when it has two.
 */
export function resolvePrecedence(layers: readonly Layer[]): Layer {
  const won = new Map<string, Given>();
  for (const { key, group } of SETTINGS) {
    const rivals = SETTINGS.filter((other) => other.key === key || (group && other.group === group));
    const deciding = layers.find((one) => rivals.some((rival) => one.has(rival.key)));
    const [first, second] = rivals.flatMap((rival) => deciding?.get(rival.key) ?? []);
    if (first && second) {
      const what = group === 'key' ? 'the API key' : 'the JWT';
      const subject = { name: `${first.name} and ${second.name}` };
      const { code } = sourceOf(first);
      const hint = code === 'config' ? 'remove one of them from the config file' : 'use only one of them';
      throw new FilingsError(code, `two sources of ${what}`, { subject, hint });
    }
    const given = deciding?.get(key);
    if (given) won.set(key, given);
  }
  return won;
}

export function sourceOf({ name, level }: Given): ValueSource {
  return { name, code: level === 'flag' || level === 'env' ? 'usage' : 'config' };
}
