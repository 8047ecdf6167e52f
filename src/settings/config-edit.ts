// Changes a config file for `filings config set` and `config unset`. Takes the name of a setting and the text of its
// value, and writes the file only if the result could be read back.
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { replaceFile } from '../disk/atomic-write.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { findJsonFault, isJsonObject, type JsonObject } from '../json.ts';
import { didYouMean } from '../spec/nearest.ts';
import { readAs, valueError } from '../spec/option.ts';
import { orList } from '../text.ts';
import type { World } from '../world.ts';
import { type ConfigLocation, checkConfig, noConfigPathError, readConfig } from './config-file.ts';
import { defaultLayer, fileLayers, resolvePrecedence } from './layers.ts';
import { findCredentialFault } from './read-secret.ts';
import { readSettings } from './settings.ts';
import { type NamedSetting, SETTINGS } from './table.ts';

/**
 * Returns the setting with this name, as the config file spells it or as a flag: `apiKey`, `api-key`. Throws `usage`;
 * its hint names only settings that the config file can hold if `forFile` is true.
 */
export function findSetting(text: string, forFile = false): NamedSetting {
  const camelCase = text.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const found = SETTINGS.find(({ key }) => key === camelCase);
  if (found !== undefined) return found;
  // The text after the equals sign may be a secret, so the message does not repeat it.
  const [name = '', value] = camelCase.split('=', 2);
  const known = SETTINGS.filter(({ inFile }) => inFile || !forFile).map(({ key }) => key);
  const suggestion = didYouMean(name, known) ?? "see 'filings help config'";
  const hint = value === undefined ? suggestion : 'put a space between name and value';
  throw new FilingsError('usage', 'no such setting', { subject: { name: name || "''" }, hint });
}

/** Returns the setting with this name. Throws `usage` if there is none, or if the config file cannot hold it. */
export function findFileSetting(text: string): NamedSetting {
  const spec = findSetting(text, true);
  if (spec.inFile) return spec;
  const ways = [spec.option, spec.env].filter((way) => way !== undefined);
  throw new FilingsError('usage', `${spec.key} cannot be set in the config file`, { hint: `use ${orList(ways)}` });
}

/**
 * Returns the value that the config file gets for a text of the command line, with absolute paths. Throws `usage`; the
 * message echoes no secret.
 */
export function toFileValue({ key, kind, secret }: NamedSetting, text: string, cwd: string): unknown {
  const toPath = (typed: string) => (typed === '-' || typed.startsWith('~/') ? typed : resolve(cwd, typed));
  if (kind.json === 'words' || kind.json === 'object') {
    if (findJsonFault(text) !== undefined) throw valueError(key, `must be ${kind.expected}`);
    return JSON.parse(text, (name, member) =>
      name.endsWith('File') && typeof member === 'string' ? toPath(member) : member,
    );
  }
  const value = readAs(kind, text, key);
  const fault = secret ? findCredentialFault(text) : undefined;
  if (fault !== undefined) throw new FilingsError('usage', fault, { subject: { name: key } });
  if (kind.json !== undefined) return value;
  return kind.completes === 'file' ? toPath(text) : text;
}

/**
 * Changes one member, at the top level or in a profile. Creates the file if it is missing. Throws `config`, also if the
 * new value makes the file invalid, and `local_io`.
 * @param value undefined removes the member
 */
export async function editConfigFile({ path, profile }: ConfigLocation, key: string, value: unknown, world: World) {
  if (path === undefined) throw noConfigPathError();
  const before: JsonObject = await readConfig(path, world).catch((error: FilingsError) => {
    if (errnoOf(error.cause) !== 'ENOENT') throw error;
    // Editors complete and check the file with this schema.
    return { $schema: pathToFileURL(join(world.root, 'schema/config.schema.json')).href };
  });
  const after = withMember(before, profile, key, value);
  // Removing a member cannot make the file invalid. It may be the way to repair one that is.
  if (value !== undefined) await checkChanged(after, profile, path, world);
  await replaceFile(path, `${JSON.stringify(after, undefined, 2)}\n`, world, { makesDirectories: true });
}

/**
 * Returns a copy of the config with one member changed. A member that is undefined disappears in JSON. A profile
 * without members stays.
 */
function withMember(config: JsonObject, profile: string | undefined, key: string, value: unknown): JsonObject {
  if (profile === undefined) return { ...config, [key]: value };
  const values = valuesOfProfile(config, profile);
  if (values === undefined && value === undefined) return config;
  return { ...config, profiles: { ...(config.profiles as object), [profile]: { ...values, [key]: value } } };
}

function valuesOfProfile({ profiles }: JsonObject, profile: string): JsonObject | undefined {
  return isJsonObject(profiles) && Object.hasOwn(profiles, profile) ? (profiles[profile] as JsonObject) : undefined;
}

/** Throws `config` if a member is invalid, or if the settings of the file and the profile contradict each other. */
async function checkChanged(config: JsonObject, profile: string | undefined, path: string, world: World) {
  await checkConfig(config, path);
  const chosen = profile === undefined ? undefined : { name: profile, values: valuesOfProfile(config, profile) ?? {} };
  readSettings(resolvePrecedence([...fileLayers(path, config, chosen), defaultLayer()]), world);
}
