import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { replaceFile } from '../../disk/replace-file.ts';
import { errnoOf, FilingsError } from '../../errors.ts';
import { isJsonObject } from '../../json.ts';
import type { Kind } from '../../spec/kind.ts';
import { didYouMean } from '../../spec/nearest.ts';
import { flagOf, readAs } from '../../spec/option.ts';
import { shellWord } from '../../text.ts';
import type { World } from '../../world.ts';
import { defaultLayer, fileLayer, winners } from '../layers.ts';
import { faultOf } from '../read-secret.ts';
import { readSettings } from '../settings.ts';
import { type NamedSetting, RECIPE_MEMBERS, SETTINGS } from '../table.ts';
import type { ConfigLocation } from './location.ts';
import { type ConfigValues, checkConfig, readConfig, readConfigJson } from './read.ts';

/** A setting, or a member of the one that has members: `jobs`, `jwt.keyFile`. */
export interface SettingName {
  readonly spec: NamedSetting;
  readonly member: keyof typeof RECIPE_MEMBERS | undefined;
  /** As it is spelled in the config file. */
  readonly name: string;
}

/**
 * The setting of a name, written as in the config file or as a flag: `apiKey`, `api-key`, `jwt.keyFile`, `jwt.key-file`.
 * @throws FilingsError `usage` with the nearest name
 */
export function settingNamed(text: string): SettingName {
  const written = text.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const found = everyName().find(({ name }) => name === written);
  if (found !== undefined) return found;
  const known = everyName().map(({ name }) => name);
  // What follows may be a key.
  const [shown = ''] = text.split('=', 1);
  if (shown !== text) throw new FilingsError('usage', `${shown}: name and value must be two words`);
  throw new FilingsError('usage', `${text || "''"}: no such setting`, {
    hint: didYouMean(written, known) ?? "see 'filings help config'",
  });
}

function everyName(): readonly SettingName[] {
  const members = Object.keys(RECIPE_MEMBERS) as (keyof typeof RECIPE_MEMBERS)[];
  return SETTINGS.flatMap((spec) => [
    { spec, member: undefined, name: spec.key },
    ...(spec.kind.json === 'recipe' ? members.map((member) => ({ spec, member, name: `${spec.key}.${member}` })) : []),
  ]);
}

/** Where in the config file: at its top, or in a profile. */
export interface Edit extends SettingName {
  readonly profile: string | undefined;
  /** Undefined takes it out. */
  readonly value: unknown;
}

/**
 * What a text on the command line means in the config file.
 * @throws FilingsError `usage`; nothing of a secret is echoed
 */
export function valueForFile({ spec, member, name }: SettingName, text: string, cwd: string): unknown {
  if (!spec.inFile) throw new FilingsError('usage', `${spec.key}: cannot be set in the config file`);
  const { kind } = member === undefined ? spec : { kind: RECIPE_MEMBERS[member] };
  const value = meantBy(kind, name, text, cwd);
  const fault = spec.secret ? faultOf(String(value)) : undefined;
  if (fault !== undefined) throw new FilingsError('usage', `${spec.key}: ${fault}`);
  return value;
}

function meantBy(kind: Kind<unknown>, name: string, text: string, cwd: string): unknown {
  if (kind.json === 'words' || kind.json === 'recipe') return parsedJson(kind, name, text);
  const value = readAs(kind, text, { name, code: 'usage' });
  if (kind.json !== undefined) return value;
  const isPath = kind.completes === 'file' && text !== '-' && !text.startsWith('~/');
  return isPath ? resolve(cwd, text) : text;
}

function parsedJson({ json }: Kind<unknown>, name: string, text: string): unknown {
  const { value, fault } = readConfigJson(text);
  if (fault === undefined) return value;
  if (fault.at !== undefined) throw new FilingsError('usage', `${name}.${fault.at}: ${fault.why}`);
  const example = json === 'words' ? JSON.stringify(text.trim().split(/\s+/)) : '{"keyFile": "key.pem", "sub": "me"}';
  throw new FilingsError('usage', `${name}: must be JSON`, {
    hint: `filings config set ${flagOf(name)} ${shellWord(example)}`,
  });
}

/**
 * Changes one member of the config file, which is made when it is missing; whole or not at all.
 * @throws FilingsError `usage`, `config` when what would stand there is wrong, `local_io`
 */
export async function editConfigFile(location: ConfigLocation, edit: Edit, world: World): Promise<void> {
  const { path } = location;
  if (path === undefined) throw noHome();
  const before: ConfigValues = await readConfig(path, world).catch((error: FilingsError) => {
    if (errnoOf(error.cause) !== 'ENOENT') throw error;
    // Editors look there for what may follow.
    const $schema = pathToFileURL(join(world.root, 'schema/config.schema.json')).href;
    return edit.value === undefined ? {} : { $schema };
  });
  const after = edited(before, edit);
  if (edit.value !== undefined) await checkEdit(before, after, edit, path);
  await replaceFile(path, `${JSON.stringify(after, undefined, 2)}\n`, 'name another file with --config');
}

/** Pure: the config with the member set, or taken out; an emptied profile stays. */
function edited(config: ConfigValues, { profile, spec, member, value }: Edit): ConfigValues {
  const change = (holder: ConfigValues) => withMember(holder, spec.key, changed(holder[spec.key], member, value));
  if (profile === undefined) return change(config);
  const profiles = (config.profiles ?? {}) as Readonly<Record<string, ConfigValues>>;
  const old = Object.hasOwn(profiles, profile) ? profiles[profile] : undefined;
  if (old === undefined && value === undefined) return config;
  return { ...config, profiles: withMember(profiles, profile, change(old ?? {})) };
}

/** A setting with its member set or taken out; without the last one it goes itself. */
function changed(before: unknown, member: string | undefined, value: unknown): unknown {
  if (member === undefined) return value;
  const after = withMember(isJsonObject(before) ? before : {}, member, value);
  return Object.keys(after).length === 0 ? undefined : after;
}

function withMember(object: ConfigValues, key: string, value: unknown): ConfigValues {
  if (value !== undefined) return { ...object, [key]: value };
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}

/** The whole file's form, and whether the new value goes with what is beside it. */
async function checkEdit(before: ConfigValues, after: ConfigValues, edit: Edit, path: string): Promise<void> {
  const { profile, spec, value } = edit;
  if (spec.key === 'profile' && profile !== undefined) {
    throw new FilingsError('usage', 'profile: cannot be set in a profile', { hint: 'omit --profile' });
  }
  await checkConfig(after, path);
  if (spec.key === 'profile') requireProfile(String(value), after);
  const fault = faultTogether(after, profile);
  // What was wrong before is not this edit's fault.
  if (fault === undefined || fault.message === faultTogether(before, profile)?.message) return;
  const hint = spec.key === 'baseUrl' ? { hint: 'use https, or first: filings config set allow-http true' } : {};
  throw fault.reworded(fault.message, hint);
}

/** What is wrong with the values of a level. */
function faultTogether(config: ConfigValues, profile: string | undefined): FilingsError | undefined {
  const where = { prefix: '', directory: '/' };
  const inProfile = profile === undefined ? [] : [fileLayer('profile', levelOf(config, profile), where)];
  try {
    readSettings(winners([...inProfile, fileLayer('file', config, where), defaultLayer('/')]));
    return undefined;
  } catch (error) {
    if (error instanceof FilingsError) return error;
    throw error;
  }
}

function levelOf(config: ConfigValues, profile: string | undefined): ConfigValues {
  const profiles = (config.profiles ?? {}) as Readonly<Record<string, ConfigValues>>;
  return (profile === undefined ? config : profiles[profile]) ?? {};
}

/** A profile that is not there would stop every command, this one among them. */
function requireProfile(name: string, { profiles }: ConfigValues): void {
  const known = Object.keys(profiles ?? {});
  if (known.includes(name)) return;
  throw new FilingsError('usage', `profile: not found: ${name}; the config file has ${known.join(', ') || 'none'}`, {
    hint: didYouMean(name, known) ?? `make it first: filings config set KEY VALUE --profile ${shellWord(name)}`,
  });
}

export function noHome(): FilingsError {
  return new FilingsError('config', 'no place for a config file', {
    hint: 'name one with --config FILE, or set HOME',
  });
}
