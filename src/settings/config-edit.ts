import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { replaceFile } from '../disk/atomic-write.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { findJsonFault, isJsonObject, type JsonObject } from '../json.ts';
import { didYouMean } from '../spec/nearest.ts';
import { readAs, valueError } from '../spec/option.ts';
import { orList } from '../text.ts';
import type { World } from '../world.ts';
import { type ConfigLocation, checkConfig, readConfig } from './config-file.ts';
import { defaultLayer, fileLayers, resolvePrecedence } from './layers.ts';
import { faultOf } from './read-secret.ts';
import { readSettings } from './settings.ts';
import { type NamedSetting, SETTINGS } from './table.ts';

/**
 * Returns the setting with this name, as the config file spells it or as a flag: `apiKey`, `api-key`. Throws `usage`;
 * its hint names only settings that the config file can hold if `forFile` is true.
 */
export function settingNamed(text: string, forFile = false): NamedSetting {
  const written = text.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const found = SETTINGS.find(({ key }) => key === written);
  if (found !== undefined) return found;
  // What follows = may be a key.
  const [name = '', value] = written.split('=', 2);
  const known = SETTINGS.filter(({ inFile }) => inFile || !forFile).map(({ key }) => key);
  const near = didYouMean(name, known) ?? "see 'filings help config'";
  const hint = value === undefined ? near : 'put a space between name and value';
  throw new FilingsError('usage', 'no such setting', { subject: { name: name || "''" }, hint });
}

/** Returns the setting with this name. Throws `usage` if there is none, or if the config file cannot hold it. */
export function settingForFile(text: string): NamedSetting {
  const spec = settingNamed(text, true);
  if (spec.inFile) return spec;
  const ways = [spec.option, spec.env].filter((way) => way !== undefined);
  throw new FilingsError('usage', `${spec.key} cannot be set in the config file`, { hint: `use ${orList(ways)}` });
}

/** Returns the value that a text on the command line means in the config file. Its errors echo no secret. */
export function valueForFile({ key, kind, secret }: NamedSetting, text: string, cwd: string): unknown {
  const path = (written: string) => (written === '-' || written.startsWith('~/') ? written : resolve(cwd, written));
  if (kind.json === 'words' || kind.json === 'object') {
    if (findJsonFault(text) !== undefined) throw valueError(key, `must be ${kind.expected}`);
    return JSON.parse(text, (name, member) =>
      name.endsWith('File') && typeof member === 'string' ? path(member) : member,
    );
  }
  const value = readAs(kind, text, key);
  const fault = secret ? faultOf(text) : undefined;
  if (fault !== undefined) throw new FilingsError('usage', fault, { subject: { name: key } });
  if (kind.json !== undefined) return value;
  return kind.completes === 'file' ? path(text) : text;
}

/**
 * Changes one member, at the top or in a profile; the file is made when it is missing.
 * @param value undefined takes the member out
 */
export async function editConfigFile({ path, profile }: ConfigLocation, key: string, value: unknown, world: World) {
  if (path === undefined) throw noHome();
  const before: JsonObject = await readConfig(path, world).catch((error: FilingsError) => {
    if (errnoOf(error.cause) !== 'ENOENT') throw error;
    // Editors look there for what may follow.
    return { $schema: pathToFileURL(join(world.root, 'schema/config.schema.json')).href };
  });
  const after = edited(before, profile, key, value);
  // What is taken out can make nothing worse.
  if (value !== undefined) await checkEdited(after, profile, path, world);
  await replaceFile(path, `${JSON.stringify(after, undefined, 2)}\n`, world, { makesDirectories: true });
}

/** With the member set, or as undefined, which JSON leaves out; an emptied profile stays. */
function edited(config: JsonObject, profile: string | undefined, key: string, value: unknown): JsonObject {
  if (profile === undefined) return { ...config, [key]: value };
  const level = levelOf(config, profile);
  if (level === undefined && value === undefined) return config;
  return { ...config, profiles: { ...(config.profiles as object), [profile]: { ...level, [key]: value } } };
}

function levelOf({ profiles }: JsonObject, profile: string): JsonObject | undefined {
  return isJsonObject(profiles) && Object.hasOwn(profiles, profile) ? (profiles[profile] as JsonObject) : undefined;
}

/** Each member by itself, and whether what the file and the profile say goes together. */
async function checkEdited(config: JsonObject, profile: string | undefined, path: string, world: World) {
  await checkConfig(config, path);
  const chosen = profile === undefined ? undefined : { name: profile, values: levelOf(config, profile) ?? {} };
  readSettings(resolvePrecedence([...fileLayers(path, config, chosen), defaultLayer()]), world);
}

export function noHome(): FilingsError {
  return new FilingsError('config', 'no place for a config file', {
    hint: 'name one with --config FILE, or set HOME (APPDATA on Windows)',
  });
}
